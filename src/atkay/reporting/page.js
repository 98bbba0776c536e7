/* The page follows what is chosen. */
const columns = () => {
  const every = at("every").checked || state.k === null;
  for (const cell of document.querySelectorAll("[data-k]")) cell.hidden = !every && cell.dataset.k !== String(state.k);
};

/* The two runs that are compared: the verdict, and the differences in tables. */
const compare = (i) => {
  const others = order(i).filter((r) => pairOf(i, r));
  if (!others.includes(state.run)) state.run = others[0];
  fill(at("run"), others.map((r) => [r, runs[r]]), state.run);
  const bases = runs.map((_, r) => r).filter((r) => runs.some((_, s) => pairOf(i, s, r)));
  fill(at("against"), bases.map((r) => [r, runs[r]]), state.against);
  at("against").disabled = bases.length < 2;
  const { card } = pairOf(i);
  for (const name of ["title", "word", "change", "why", "segments"]) at(`verdict-${name}`).textContent = text(card[name]);
  at("verdict").className = text(card.tone);
  at("changed").replaceChildren(...card.changed.map((line) => make("li", text(line))));
  const cells = data.segments[`${state.run}/${state.against}`];
  for (const place of document.querySelectorAll(".mark")) {
    const { run, row, number } = place.dataset, pair = pairOf(number, run ? Number(run) : state.run);
    const [change, tone] = run || row === "all" ? (pair ? [pair.card.change, pair.card.found] : []) : cells?.[row][number] ?? [];
    place.textContent = change === undefined ? "" : text(change);
    place.className = `mark ${tone === undefined ? "" : text(tone)}`;
  }
  for (const place of document.querySelectorAll(".tier"))
    place.replaceChildren(...["span", "small"].map((part, n) => make(part, data.tiers[i][place.dataset.run]?.[n] ?? ["–", ""][n])));
  for (const place of document.querySelectorAll(".baseline")) place.textContent = runs[state.against];
  const body = document.querySelector("#leaderboard tbody");
  body.append(...order(i).map((r) => body.querySelector(`tr[data-run="${r}"]`)));
};
const show = async () => {
  document.documentElement.dataset.ready = "no";
  const i = chosen();
  const own = numbers.filter((one) => one.family === state.family).map((one) => one.k);
  fill(at("metric"), families.map((name) => [name, name]), state.family);
  fill(at("cutoff"), (own.length === 1 && own[0] === null ? [null] : own).map((k) => [k, k === null ? "whole list" : k]), numbers[i].k);
  if (numbers[i].k !== null) state.k = numbers[i].k;
  columns();
  if (at("run")) compare(i);
  const first = movedUsers(i);
  if (first !== undefined && !state.opened) at("user").value = String(first);
  state.opened = true;
  if (explorer && at("user")) showUser();
  await Promise.all(Object.values(charts).map((chart) => chart(i)));
  document.documentElement.dataset.ready = "yes";
};

/* Controls. */
at("controls").addEventListener("submit", (event) => event.preventDefault());
at("metric").addEventListener("change", (event) => { state.family = event.target.value; show(); });
at("cutoff").addEventListener("change", (event) => { state.k = event.target.value === "null" ? null : Number(event.target.value); show(); });
at("every").addEventListener("change", columns);
at("run")?.addEventListener("change", (event) => { state.run = Number(event.target.value); show(); });
at("against")?.addEventListener("change", (event) => {
  const before = state.against;
  state.against = Number(event.target.value);
  if (state.run === state.against) state.run = before;
  show();
});
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
  const view = views[name];
  if (!view) return;
  if (form === "png") await view.background("white").runAsync();
  offer(await view.toImageURL(form, 2), `${name}.${form}`);
  if (form === "png") await view.background("transparent").runAsync();
});
let later, width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === width) return;
  width = innerWidth;
  clearTimeout(later);
  later = setTimeout(() => Object.values(drawn).forEach((again) => again()), 150);
});
if (!cutoffs.length) { at("cutoff").parentElement.hidden = true; at("every").parentElement.hidden = true; }
for (const box of document.querySelectorAll("main .scroll")) withForms(box);
show();
