"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);
  const { numbers, runs } = data;
  const four = (value) => (value === null || value === undefined ? "–" : Number(value).toFixed(4));
  const whole = (value) => Number(value).toLocaleString("en");

  /* Text goes in as text: nothing here is ever read as HTML. */
  const make = (tag, content, attributes = {}) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    for (const part of Array.isArray(content) ? content : [content])
      if (part !== null && part !== undefined) made.append(part instanceof Node ? part : String(part));
    return made;
  };
  const fill = (select, options, chosen) => {
    select.replaceChildren(...options.map(([value, text]) => make("option", text, { value })));
    select.value = String(chosen);
  };
  const table = (caption, header, rows, wide = -1) => {
    const side = (i) => i === wide ? { class: "wrap" }
      : i && rows.length && rows.every((row) => /^[-–−\d.,%\s]+$/.test(String(row[i]))) ? { class: "right" } : {};
    return make("div", make("table", [
      make("caption", caption),
      make("thead", make("tr", header.map((name, i) => make("th", make("div", name), { scope: "col", ...(i === wide ? {} : side(i)) })))),
      make("tbody", rows.map((row) => make("tr", row.map((cell, i) =>
        i ? make("td", side(i).class ? cell : make("div", cell), side(i)) : make("th", make("div", cell), { scope: "row" }))))),
    ]), { class: "scroll", tabindex: "0", role: "region", "aria-label": caption });
  };

  /* What is chosen. */
  const families = [...new Set(numbers.map((one) => one.family))];
  const cutoffs = [...new Set(numbers.map((one) => one.k))].filter((k) => k !== null).sort((a, b) => a - b);
  const state = { family: numbers[data.headline].family, k: numbers[data.headline].k ?? cutoffs[0] ?? null, pair: 0, across: null };
  const chosen = () => {
    const alike = numbers.map((one, i) => [one, i]).filter(([one]) => one.family === state.family);
    const exact = alike.find(([one]) => one.k === state.k);
    return (exact ?? alike[alike.length - 1])[1];
  };

  /* Charts: colours of text and lines are those of the page, so light and dark need no other drawing. */
  const ink = "currentColor";
  const columnsOf = (width) => Math.max(1, Math.floor(width / 190));
  const config = (width) => ({
    background: "transparent",
    font: "system-ui, sans-serif",
    view: { stroke: null },
    axis: { labelColor: ink, titleColor: ink, tickColor: ink, domainColor: ink, gridColor: ink, gridOpacity: 0.12,
      domainOpacity: 0.4, tickOpacity: 0.4, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal",
      labelLimit: Math.min(240, 0.4 * width) },
    axisX: { labelOverlap: "greedy", labelSeparation: 8, tickCount: Math.max(3, Math.floor(width / 100)) },
    legend: { labelColor: ink, titleColor: ink, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal",
      labelLimit: width / columnsOf(width) - 36, columns: columnsOf(width) },
    header: { labelColor: ink, titleColor: ink, labelFontSize: 12 },
    text: { color: ink, fontSize: 12 },
    rule: { color: ink },
  });
  const drawn = {}, views = {};
  const draw = async (name, rows, caption, header, cells, titles) => {
    const place = at(`${name}-chart`);
    if (!place) return;
    drawn[name] = () => draw(name, rows, caption, header, cells, titles);
    at(`${name}-caption`).textContent = caption;
    place.hidden = !rows.length;
    at(`${name}-table`).replaceChildren(table(caption, header, rows.map(cells)));
    if (!rows.length) return place.replaceChildren();
    const width = Math.max(240, place.clientWidth);
    const spec = structuredClone(data.charts[name]);
    spec.datasets = { rows };
    spec.description = caption;
    delete spec.config;
    if (titles) for (const layer of spec.layer) [layer.encoding.x.title, layer.encoding.y.title] = titles;
    if (spec.spec) spec.spec.width = Math.max(140, width - 64);
    if (spec.height?.step) {
      const lines = new Set(rows.map((row) => row.pair ?? row.segment ?? row.run)).size;
      spec.height = spec.height.step * lines * (spec.height.for === "offset" ? 1.25 * runs.length : 1);
    }
    if (!spec.spec) { spec.width = width; spec.autosize = { type: "fit-x", contains: "padding" }; }
    const { view } = await vegaEmbed(place, spec, {
      renderer: "svg", config: config(width),
      logLevel: 1 /* errors alone */, actions: false,
    });
    views[name] = view;
  };

  const ends = ([mean, low, high]) => ({ mean, low, high });
  const charts = {
    means(i) {
      const rows = runs.map((run, r) => ({ run, ...ends(data.means[r][i]) })).filter((row) => row.mean !== null);
      return draw("means", rows, `${numbers[i].name}: mean of each run with 95 % CI.`,
        ["run", "mean", "low", "high"], (row) => [row.run, four(row.mean), four(row.low), four(row.high)]);
    },
    curves(i) {
      const rows = [];
      numbers.forEach((one, n) => {
        if (one.family !== numbers[i].family || one.k === null) return;
        runs.forEach((run, r) => {
          if (data.means[r][n][0] !== null) rows.push({ run, k: one.k, ...ends(data.means[r][n]) });
        });
      });
      const several = new Set(rows.map((row) => row.k)).size > 1;
      return draw("curves", several ? rows : [],
        several ? `${numbers[i].family} by cutoff, with 95 % CI (shaded).` : `${numbers[i].family} was evaluated at one cutoff only.`,
        ["run", "cutoff", "mean", "low", "high"], (row) => [row.run, row.k, four(row.mean), four(row.low), four(row.high)]);
    },
    users(i) {
      const found = data.users[i], rows = [];
      if (found) runs.forEach((run, r) => {
        const all = found.counts[r].reduce((sum, count) => sum + count, 0) || 1;
        found.counts[r].forEach((users, b) =>
          rows.push({ run, at: found.edges[b], to: found.edges[b + 1], users, share: users / all }));
      });
      return draw("users", rows,
        found ? `${numbers[i].name}: share of users by value, over all users.` : `${numbers[i].name} has no per-user values.`,
        ["run", "from", "to", "users", "share"],
        (row) => [row.run, four(row.at), four(row.to), whole(row.users), `${(100 * row.share).toFixed(1)} %`]);
    },
    differences(i) {
      const rows = data.pairs.filter((pair) => pair.number === i && pair.ends[0] !== null).map((pair) => ({
        pair: `${runs[pair.run]} − ${runs[pair.against]}`, difference: pair.ends[0], low: pair.ends[1], high: pair.ends[2],
        found: pair.found, verdict: pair.verdict,
      }));
      return draw("differences", rows, `${numbers[i].name}: differences of means with 95 % CI.`,
        ["pair", "difference", "low", "high", "verdict"],
        (row) => [row.pair, four(row.difference), four(row.low), four(row.high), row.verdict]);
    },
    moved(i) {
      if (!at("pair")) return null;
      const pairs = data.pairs.filter((pair) => pair.number === i);
      state.pair = Math.min(state.pair, Math.max(0, pairs.length - 1));
      fill(at("pair"), pairs.map((pair, n) => [n, `${runs[pair.run]} vs ${runs[pair.against]}`]), state.pair);
      const pair = pairs[state.pair], rows = [];
      let said = `${numbers[i].name} has no per-user differences.`;
      if (pair && pair.moved) {
        const { edge, counts } = pair.moved, step = (2 * edge) / counts.length;
        const side = { higher: ["worse", "better"], lower: ["better", "worse"], neither: ["lower", "higher"] }[numbers[i].better];
        counts.forEach((users, b) => {
          if (users) rows.push({ at: -edge + b * step, to: -edge + (b + 1) * step, users, found: side[b * 2 < counts.length ? 0 : 1] });
        });
        const [wins, ties, losses] = pair.counts;
        const words = numbers[i].better === "neither" ? ["higher", "lower"] : ["better", "worse"];
        said = `${numbers[i].name}, ${runs[pair.run]} vs ${runs[pair.against]}: ${pair.verdict}. ` +
          `${whole(wins)} users ${words[0]}, ${whole(losses)} ${words[1]}, ${whole(ties)} equal (not drawn).`;
      }
      return draw("moved", rows, said, ["from", "to", "users"], (row) => [four(row.at), four(row.to), whole(row.users)]);
    },
    slices(i) {
      const rows = [], out = [];
      for (const slice of data.slices) {
        if (slice.left_out) out.push(`Of ${slice.name}, ${whole(slice.left_out)} smaller segments are not drawn.`);
        slice.segments.forEach((segment, s) => runs.forEach((run, r) => {
          const found = slice.means[s][r] && slice.means[s][r][i];
          if (found && found[0] !== null) rows.push({ slice: slice.name, segment: data.slices.length > 1 ? `${slice.name}: ${segment}` : segment, run, users: slice.users[s], ...ends(found) });
        }));
      }
      return draw("slices", rows, [`${numbers[i].name} by segment, with 95 % CI.`, ...out].join(" "),
        ["slice", "segment", "run", "mean", "low", "high", "users"],
        (row) => [row.slice, row.segment, row.run, four(row.mean), four(row.low), four(row.high), whole(row.users)]);
    },
    trade(i) {
      if (!at("across")) return null;
      const others = numbers.map((one, n) => [one, n]).filter(([one, n]) => one.about === "lists" && n !== i);
      if (!others.some(([, n]) => n === state.across)) {
        const near = others.find(([one]) => one.k === state.k) ?? others[0];
        state.across = near ? near[1] : null;
      }
      fill(at("across"), others.map(([one, n]) => [n, one.name]), state.across);
      const rows = state.across === null ? [] : runs.map((run, r) =>
        ({ run, across: data.means[r][state.across][0], up: data.means[r][i][0] })).filter((row) => row.across !== null && row.up !== null);
      const other = state.across === null ? "" : numbers[state.across].name;
      return draw("trade", rows, `${numbers[i].name} and ${other} of each run.`,
        ["run", other, numbers[i].name], (row) => [row.run, four(row.across), four(row.up)],
        [other, numbers[i].name]);
    },
  };

  const columns = () => {
    const every = at("every").checked || state.k === null;
    for (const cell of document.querySelectorAll("[data-k]")) cell.hidden = !every && cell.dataset.k !== String(state.k);
  };
  const show = async () => {
    document.documentElement.dataset.ready = "no";
    const i = chosen();
    const own = numbers.filter((one) => one.family === state.family).map((one) => one.k);
    fill(at("metric"), families.map((name) => [name, name]), state.family);
    fill(at("cutoff"), (own.length === 1 && own[0] === null ? [null] : own).map((k) => [k, k === null ? "whole list" : k]), numbers[i].k);
    if (numbers[i].k !== null) state.k = numbers[i].k;
    columns();
    await Promise.all(Object.values(charts).map((chart) => chart(i)));
    document.documentElement.dataset.ready = "yes";
  };

  /* One user. */
  const explorer = data.explorer;
  const text = (place) => data.strings[place];
  const bidi = (content, attributes) => make("span", make("bdi", content), attributes);
  const listOf = (name, size, places, row) => make("div", [
    make("h4", name),
    make("ol", places.map(row)),
    size > places.length ? make("p", `and ${whole(size - places.length)} more`, { class: "note" }) : null,
  ]);
  const showUser = () => {
    const nth = Number(at("user").value), user = explorer.users[nth];
    at("before").disabled = nth === 0;
    at("after").disabled = nth === explorer.users.length - 1;
    const found = new Map(user.runs.map((run, r) => [r, new Map(run ? run.places.map((place, n) => [place[0], n + 1]) : [])]));
    const graded = user.truth.items.some(([, grade]) => grade !== 1);
    const truth = listOf(`Truth: ${whole(user.truth.size)} relevant`, user.truth.size, user.truth.items, ([item, grade]) => {
      const ranks = runs.map((_, r) => found.get(r).get(item) ?? "–");
      const hit = ranks.some((rank) => rank !== "–");
      return make("li", [
        bidi(text(item), { class: "item" }),
        graded ? make("span", `grade ${grade}`, { class: "score" }) : null,
        make("span", hit ? `rank ${ranks.join(" | ")}` : "not listed", { class: "score" }),
      ], hit ? { class: "hit" } : {});
    });
    const lists = user.runs.map((run, r) => run
      ? listOf(`${runs[r]}: ${whole(run.size)} listed`, run.size, run.places, ([item, score, grade], n) => make("li", [
        make("span", n + 1, { class: "rank" }),
        bidi(text(item), { class: "item" }),
        grade === null ? null : make("span", graded ? `✓ ${grade}` : "✓", { class: "score", title: "hit" }),
        score === null ? null : make("span", Number(score.toPrecision(4)), { class: "score", title: "score" }),
      ], grade === null ? {} : { class: "hit" }))
      : make("div", [make("h4", runs[r]), make("p", "This user is not in the sample of this run.")]));
    const sums = numbers.flatMap((one, i) => user.runs.map((run, r) => [one, run, r, i])).filter(([, run, , i]) => run && run.sums[i]);
    const arithmetic = table(`How the values of ${user.id} are computed`, ["metric", "run", "value", "arithmetic"],
      sums.map(([one, run, r, i]) => [one.name, runs[r], four(run.sums[i][0]), run.sums[i][1]]), 3);
    /* On a phone its rows are stacked, which would make it no table for a screen reader, were it not said. */
    for (const [what, role] of [["table", "table"], ["tr", "row"], ["td", "cell"], ["tbody th", "rowheader"], ["thead th", "columnheader"]])
      arithmetic.querySelectorAll(what).forEach((one) => one.setAttribute("role", role));
    arithmetic.querySelector("table").className = "stack";
    arithmetic.querySelectorAll("tbody tr").forEach((row, n) => { if (sums[n][0].k !== null) row.dataset.k = sums[n][0].k; });
    at("one-user").replaceChildren(make("div", [truth, ...lists], { class: "lists", tabindex: "0", role: "region", "aria-label": "Truth and lists" }),
      make("p", `✓: a hit${graded ? ", with its grade" : ""}; scores, if any, on the right. ` +
        (runs.length > 1 ? "Next to a relevant item: its rank in each run. " : "") +
        "R: relevant items; L: listed items; k: the cutoff.", { class: "note" }), arithmetic);
    columns();
  };
  if (explorer && at("user")) {
    at("sampled").textContent = `${whole(explorer.users.length)} of ${whole(explorer.of)} users, picked by a hash of their ids; ` +
      "lists and truth are cut to 50 items, ids to 120 characters.";
    fill(at("user"), explorer.users.map((user, n) => [n, user.id]), 0);
    at("user").addEventListener("change", showUser);
    const step = (by) => () => { at("user").value = String(Number(at("user").value) + by); showUser(); };
    at("before").addEventListener("click", step(-1));
    at("after").addEventListener("click", step(1));
    showUser();
  }

  /* Controls. */
  at("controls").addEventListener("submit", (event) => event.preventDefault());
  at("metric").addEventListener("change", (event) => { state.family = event.target.value; show(); });
  at("cutoff").addEventListener("change", (event) => { state.k = event.target.value === "null" ? null : Number(event.target.value); show(); });
  at("every").addEventListener("change", columns);
  at("pair")?.addEventListener("change", (event) => { state.pair = Number(event.target.value); charts.moved(chosen()); });
  at("across")?.addEventListener("change", (event) => { state.across = Number(event.target.value); charts.trade(chosen()); });
  const themes = [["", "system"], ["light", "light"], ["dark", "dark"]];
  let theme = 0;
  at("theme").addEventListener("click", () => {
    theme = (theme + 1) % themes.length;
    document.documentElement.dataset.theme = themes[theme][0];
    at("theme").textContent = `Theme: ${themes[theme][1]}`;
  });
  for (const button of document.querySelectorAll("button[data-save]")) button.addEventListener("click", async () => {
    const [name, form] = button.dataset.save.split(".");
    if (views[name]) make("a", "", { href: await views[name].toImageURL(form, 2), download: `${name}.${form}` }).click();
  });
  let later, width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(later);
    later = setTimeout(() => Object.values(drawn).forEach((again) => again()), 150);
  });
  if (!cutoffs.length) { at("cutoff").parentElement.hidden = true; at("every").parentElement.hidden = true; }
  show();
})();
