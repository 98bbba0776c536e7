/* Single users: who lost and gained most, and their lists side by side. */
const explorer = data.explorer;
const valueOf = (user, r, i) => user.runs[r]?.sums[i]?.[0] ?? null;
const itemOf = (place) => {
  const known = data.items[place] ?? {}, name = make("bdi", known.title ?? text(place));
  return make("span", [
    known.picture ? make("img", "", { src: known.picture, alt: "", loading: "lazy" }) : null,
    known.link ? make("a", name, { href: known.link, rel: "noreferrer", target: "_blank" }) : name,
    known.title ? make("small", make("bdi", text(place))) : null,
  ], { class: "item" });
};
const listOf = (name, size, places, row) => make("div", [
  make("h4", name),
  make("ol", places.map(row)),
  size > places.length ? make("p", `and ${whole(size - places.length)} more`, { class: "note" }) : null,
]);
/* Of several runs the two that are compared; the baseline first. */
const pairShown = () => (runs.length > 1 ? [state.against, state.run] : [0]);
const select = (n) => { at("user").value = String(n); showUser(); };
const movedUsers = (i) => {
  if (!explorer || !at("moved-users")) return;
  const shown = pairShown(), sign = better(i) || 1;
  const rows = explorer.users.map((user, n) => [n, user.id, ...shown.map((r) => valueOf(user, r, i))])
    .filter((row) => !row.includes(null)).map((row) => [...row, row.at(-1) - (shown.length > 1 ? row[2] : 0)]);
  const word = better(i) ? ["Lost most", "Gained most"] : ["Lower", "Higher"];
  const names = shown.length > 1 ? word : better(i) ? ["Worst", "Best"] : ["Lowest", "Highest"];
  const ends = [1, -1].map((way) => rows.filter((row) => shown.length < 2 || row.at(-1) * way * sign < 0)
    .sort((one, other) => way * sign * (one.at(-1) - other.at(-1))).slice(0, 8));
  at("moved-users").replaceChildren(...ends.map((found, side) => make("div", [
    make("h3", `${names[side]} in ${numbers[i].name}`),
    make("ol", found.map(([n, id, ...values]) => {
      const button = make("button", make("bdi", id), { type: "button" });
      button.addEventListener("click", () => { at("find").value = ""; search(); select(n); at("one-user").scrollIntoView({ block: "nearest" }); });
      const change = values.pop();
      return make("li", [button, make("span", values.map(four).join(" → "), { class: "score" }),
        shown.length > 1 ? make("span", (change > 0 ? "+" : "") + change.toFixed(4), { class: "score" }) : null]);
    })),
    found.length ? null : make("p", "None of the users on this page.", { class: "note" }),
  ])));
  return ends.flat()[0]?.[0];
};
const showUser = () => {
  const at_ = at("user").selectedIndex, options = at("user").options;
  if (at_ < 0) return at("one-user").replaceChildren(make("p", "No user on this page has this in its id.", { class: "note" }));
  const user = explorer.users[Number(at("user").value)], shown = pairShown();
  at("before").disabled = at_ === 0;
  at("after").disabled = at_ === options.length - 1;
  const ranks = new Map(shown.map((r) => [r, new Map((user.runs[r]?.places ?? []).map((place, n) => [place[0], n + 1]))]));
  const graded = user.truth.items.some(([, grade]) => grade !== 1);
  const truth = listOf(`Truth: ${whole(user.truth.size)} relevant`, user.truth.size, user.truth.items, ([item, grade]) => {
    const of = shown.map((r) => ranks.get(r).get(item) ?? "–");
    const hit = of.some((rank) => rank !== "–");
    return make("li", [
      itemOf(item),
      graded ? make("span", `grade ${grade}`, { class: "score" }) : null,
      make("span", hit ? `rank ${of.join(" | ")}` : "not listed", { class: "score" }),
    ], hit ? { class: "hit" } : {});
  });
  /* Against the list of the other run: what entered, left and moved. */
  const moved = (item, n, other, isNew) => {
    const rank = ranks.get(other).get(item);
    if (!rank) return [isNew ? "new" : "left", isNew ? "entered" : "gone"];
    return isNew && rank !== n + 1 ? [`${rank > n + 1 ? "▲" : "▼"} ${Math.abs(rank - n - 1)}`, "moved"] : null;
  };
  const lists = shown.map((r, nth) => {
    const run = user.runs[r], other = shown.length > 1 ? shown[1 - nth] : undefined;
    if (!run) return make("div", [make("h4", runs[r]), make("p", "This user is not evaluated in this run, or not among the users that were kept.")]);
    return listOf(`${runs[r]}: ${whole(run.size)} listed`, run.size, run.places, ([item, score, grade], n) => {
      const mark = other !== undefined && user.runs[other] ? moved(item, n, other, nth === 1) : null;
      return make("li", [
        make("span", n + 1, { class: "rank" }),
        itemOf(item),
        mark ? make("span", mark[0], { class: `moved ${mark[1]}` }) : null,
        grade === null ? null : make("span", graded ? `✓ ${grade}` : "✓", { class: "score", title: "hit" }),
        score === null ? null : make("span", Number(score.toPrecision(4)), { class: "score", title: "score" }),
      ], grade === null ? {} : { class: "hit" });
    });
  });
  const sums = numbers.flatMap((one, i) => shown.map((r) => [one, user.runs[r], r, i])).filter(([, run, , i]) => run && run.sums[i]);
  const arithmetic = table(`How the values of ${user.id} are computed`, ["metric", "run", "value", "arithmetic"],
    sums.map(([one, run, r, i]) => [one.name, runs[r], four(run.sums[i][0]), run.sums[i][1]]), 3);
  /* On a phone its rows are stacked, which would make it no table for a screen reader, were it not said. */
  for (const [what, role] of [["table", "table"], ["tr", "row"], ["td", "cell"], ["tbody th", "rowheader"], ["thead th", "columnheader"]])
    arithmetic.querySelectorAll(what).forEach((one) => one.setAttribute("role", role));
  arithmetic.querySelector("table").className = "stack";
  arithmetic.querySelectorAll("tbody tr").forEach((row, n) => { if (sums[n][0].k !== null) row.dataset.k = sums[n][0].k; });
  at("one-user").replaceChildren(make("div", [truth, ...lists], { class: "lists", tabindex: "0", role: "region", "aria-label": "Truth and lists" }),
    make("p", `✓: a hit${graded ? ", with its grade" : ""}; scores, if any, on the right. ` +
      (shown.length > 1 ? "New: not in the list of the baseline; left: not in the list of the other run; ▲ ▼: places up and down. " +
        "Next to a relevant item: its rank in each run. " : "") +
      "R: relevant items; L: listed items; k: the cutoff.", { class: "note" }), arithmetic);
  withForms(arithmetic);
  columns();
};
const search = () => {
  const wanted = at("find").value.trim().toLowerCase(), before = at("user").value;
  const fitting = explorer.users.map((user, n) => [n, user.id]).filter(([, id]) => id.toLowerCase().includes(wanted));
  const exact = fitting.find(([, id]) => id.toLowerCase() === wanted);
  const kept = fitting.find(([n]) => String(n) === before);
  fill(at("user"), fitting, (exact ?? kept ?? fitting[0] ?? [""])[0]);
};
if (explorer && at("user")) {
  const { extreme } = explorer, head = numbers[data.headline].name;
  const who = !extreme ? "" : runs.length > 1 ? `those who lost and gained most in ${head} (at least ${extreme} of each, for each run), and others `
    : `those with the lowest and the highest ${head} (${extreme} of each), and others `;
  at("sampled").textContent = `${whole(explorer.users.length)} of ${whole(explorer.of)} users are on this page: ${who}` +
    "picked by a hash of their ids. Lists and truth are cut to 50 items, ids to 120 characters.";
  fill(at("user"), explorer.users.map((user, n) => [n, user.id]), 0);
  at("user").addEventListener("change", showUser);
  at("find").addEventListener("input", () => { search(); showUser(); });
  const step = (by) => () => { at("user").selectedIndex += by; showUser(); };
  at("before").addEventListener("click", step(-1));
  at("after").addEventListener("click", step(1));
}
