/* What is chosen, and the charts of it. */
const families = [...new Set(numbers.map((one) => one.family))];
const cutoffs = [...new Set(numbers.map((one) => one.k))].filter((k) => k !== null).sort((a, b) => a - b);
const state = {
  family: numbers[data.headline].family, k: numbers[data.headline].k ?? cutoffs[0] ?? null,
  run: data.run, against: data.against, across: null,
};
const text = (place) => data.strings[place];
const pairs = new Map(data.pairs.map((pair) => [`${pair.number}/${pair.run}/${pair.against}`, pair]));
const pairOf = (i, run = state.run, against = state.against) => pairs.get(`${i}/${run}/${against}`);
const better = (i) => ({ higher: 1, lower: -1, neither: 0 })[numbers[i].better];
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
  withForms(at(`${name}-table`).firstChild);
  if (!rows.length) return place.replaceChildren();
  const width = Math.max(240, place.clientWidth);
  const spec = structuredClone(data.charts[name]);
  spec.datasets = { rows };
  spec.description = caption;
  delete spec.config;
  const drawnRuns = [...new Set(rows.map((row) => row.run))];
  for (const part of [spec, ...(spec.layer ?? [])]) if (part.encoding?.color?.legend && rows[0].run) part.encoding.color.legend.values = drawnRuns;
  if (titles) for (const layer of spec.layer) [layer.encoding.x.title, layer.encoding.y.title] = titles;
  if (spec.spec) spec.spec.width = Math.max(140, width - 64);
  if (spec.height?.step) {
    const lines = new Set(rows.map((row) => row.pair ?? row.segment ?? row.run)).size;
    spec.height = spec.height.step * lines * (spec.height.for === "offset" ? 1.25 * few(chosen())[0].length : 1);
  }
  if (!spec.spec) { spec.width = width; spec.autosize = { type: "fit-x", contains: "padding" }; }
  const { view } = await vegaEmbed(place, spec, {
    renderer: "svg", config: config(width),
    logLevel: 1 /* errors alone */, actions: false,
  });
  views[name] = view;
};

const ends = ([mean, low, high]) => ({ mean, low, high });
/* The runs, the best first. */
const order = (i) => runs.map((_, r) => r).sort((r, s) => {
  const [a, b] = [r, s].map((run) => data.means[run][i][0]);
  return (a === null) - (b === null) || (better(i) || 1) * (b - a) || r - s;
});
/* Where many runs would hide each other: the two that are compared, and the best of the others. */
const few = (i) => {
  if (runs.length <= data.most) return [runs.map((_, r) => r), ""];
  const first = [...new Set([state.run, state.against, ...order(i)])].slice(0, data.most);
  return [runs.map((_, r) => r).filter((r) => first.includes(r)), ` ${data.most} of ${runs.length} runs: the two that are compared and the best others.`];
};
const charts = {
  means(i) {
    const rows = order(i).map((r) => ({ run: runs[r], ...ends(data.means[r][i]) })).filter((row) => row.mean !== null);
    return draw("means", rows, `${numbers[i].name}: mean of each run with 95 % CI.`,
      ["run", "mean", "low", "high"], (row) => [row.run, four(row.mean), four(row.low), four(row.high)]);
  },
  curves(i) {
    const rows = [], [drawn, which] = few(i);
    numbers.forEach((one, n) => {
      if (one.family !== numbers[i].family || one.k === null) return;
      for (const r of drawn) if (data.means[r][n][0] !== null) rows.push({ run: runs[r], k: one.k, ...ends(data.means[r][n]) });
    });
    const several = new Set(rows.map((row) => row.k)).size > 1;
    return draw("curves", several ? rows : [],
      several ? `${numbers[i].family} by cutoff, with 95 % CI (shaded).${which}` : `${numbers[i].family} was evaluated at one cutoff only.`,
      ["run", "cutoff", "mean", "low", "high"], (row) => [row.run, row.k, four(row.mean), four(row.low), four(row.high)]);
  },
  users(i) {
    const found = data.users[i], rows = [], [drawn, which] = few(i);
    if (found) for (const r of drawn) {
      const all = found.counts[r].reduce((sum, count) => sum + count, 0) || 1;
      found.counts[r].forEach((users, b) =>
        rows.push({ run: runs[r], at: found.edges[b], to: found.edges[b + 1], users, share: users / all }));
    }
    return draw("users", rows,
      found ? `${numbers[i].name}: share of users by value, over all users.${which}` : `${numbers[i].name} has no per-user values.`,
      ["run", "from", "to", "users", "share"],
      (row) => [row.run, four(row.at), four(row.to), whole(row.users), `${(100 * row.share).toFixed(1)} %`]);
  },
  differences(i) {
    const rows = order(i).map((r) => pairOf(i, r)).filter((pair) => pair && pair.ends[0] !== null).map((pair) => ({
      pair: `${runs[pair.run]} − ${runs[pair.against]}`, difference: pair.ends[0], low: pair.ends[1], high: pair.ends[2],
      found: pair.found, verdict: pair.verdict,
    }));
    return draw("differences", rows, `${numbers[i].name}: differences of means with 95 % CI.`,
      ["pair", "difference", "low", "high", "verdict"],
      (row) => [row.pair, four(row.difference), four(row.low), four(row.high), row.verdict]);
  },
  moved(i) {
    const pair = pairOf(i), rows = [];
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
    const rows = [], out = [], [drawn, which] = few(i);
    for (const slice of data.slices) {
      if (slice.left_out) out.push(`Of ${slice.name}, ${whole(slice.left_out)} smaller segments are not drawn.`);
      slice.segments.forEach((segment, s) => drawn.forEach((r) => {
        const found = slice.means[s][r] && slice.means[s][r][i];
        if (found && found[0] !== null) rows.push({ slice: slice.name, segment: data.slices.length > 1 ? `${slice.name}: ${segment}` : segment, run: runs[r], users: slice.users[s], ...ends(found) });
      }));
    }
    return draw("slices", rows, [`${numbers[i].name} by segment, with 95 % CI.${which}`, ...out].join(" "),
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
    const some = runs.length > data.most, named = some ? [state.run, state.against] : runs.map((_, r) => r);
    const rows = state.across === null ? [] : runs.map((run, r) =>
      ({ run, label: named.includes(r) ? run : "", across: data.means[r][state.across][0], up: data.means[r][i][0] })).filter((row) => row.across !== null && row.up !== null);
    const other = state.across === null ? "" : numbers[state.across].name;
    return draw("trade", rows, `${numbers[i].name} and ${other} of each run${some ? "; the two that are compared are named" : ""}.`,
      ["run", other, numbers[i].name], (row) => [row.run, four(row.across), four(row.up)],
      [other, numbers[i].name]);
  },
};
