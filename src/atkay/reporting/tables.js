/* Tables, and files of them: what all parts of the page share. */
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
  return make("div", [make("table", [
    make("caption", caption),
    make("thead", make("tr", header.map((name, i) => make("th", make("div", name), { scope: "col", ...(i === wide ? {} : side(i)) })))),
    make("tbody", rows.map((row) => make("tr", row.map((cell, i) =>
      i ? make("td", side(i).class ? cell : make("div", cell), side(i)) : make("th", make("div", cell), { scope: "row" }))))),
  ])], { class: "scroll", tabindex: "0", role: "region", "aria-label": caption });
};

/* Files: what is seen, made here. */
const offer = (href, name) => make("a", "", { href, download: name }).click();
const partsOf = (cell) => {
  const rest = cell.cloneNode(true);
  const take = (what) => [...rest.querySelectorAll(what)].map((part) => { part.remove(); return part.textContent; }).join(" ");
  const [small, mark, raised] = [take("small"), take(".mark"), take("sup")];
  const main = rest.textContent.trim();
  return { main: main || mark, raised, small, mark: main ? mark : "" };
};
const seen = (box) => [...box.querySelectorAll("tr")].filter((row) => !row.hidden)
  .map((row) => [...row.cells].filter((cell) => !cell.hidden).map(partsOf));
const forms = {
  /* Intervals and differences get columns of their own, so that numbers are numbers. */
  CSV(box) {
    const [header, ...rows] = seen(box), kinds = ["main", "small", "mark"], names = ["", " interval", " difference"];
    const columns = header.flatMap((head, c) => kinds.map((kind, n) => [c, kind, head.main.replace(/ [↑↓]$/, "") + (!c && n ? " users" : names[n])]))
      .filter(([c, kind]) => kind === "main" || rows.some((row) => row[c][kind]));
    const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const lines = [columns.map((column) => column[2]), ...rows.map((row) => columns.map(([c, kind]) => row[c][kind]))];
    return "data:text/csv;charset=utf-8," + encodeURIComponent(lines.map((line) => line.map(quoted).join(",") + "\r\n").join(""));
  },
  LaTeX(box) {
    const special = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "<": "\\textless{}", ">": "\\textgreater{}",
      "|": "\\textbar{}", "†": "\\textdagger{}", "↑": "$\\uparrow$", "↓": "$\\downarrow$", "–": "--" };
    const tex = (text) => text.replace(/[&%$#_{}]/g, "\\$&").replace(/[~^<>|†↑↓–]|\\(?![&%$#_{}])/g, (char) => special[char]);
    const [header, ...rows] = seen(box).map((row) => row.map(({ main, raised }) => tex(main) + (raised ? `\\textsuperscript{${tex(raised)}}` : "")).join(" & ") + " \\\\");
    const sides = seen(box)[0].map((_, c) => (c ? "r" : "l")).join("");
    return "data:text/x-tex;charset=utf-8," + encodeURIComponent(
      [`\\begin{tabular}{${sides}}`, "\\toprule", header, "\\midrule", ...rows, "\\bottomrule", "\\end{tabular}", ""].join("\n"));
  },
  async PNG(box) {
    const shape = box.querySelector("table").getBoundingClientRect(), [width, height] = [shape.width + 24, shape.height + 24].map(Math.ceil);
    const copy = make("body", box.querySelector("table").cloneNode(true), { xmlns: "http://www.w3.org/1999/xhtml", style: "margin:0;padding:12px;max-width:none" });
    const style = at("look").textContent.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" data-theme="light" width="${width}" height="${height}"><style>${style}</style>` +
      `<foreignObject width="100%" height="100%">${new XMLSerializer().serializeToString(copy)}</foreignObject></svg>`;
    const image = new Image(), canvas = make("canvas", "", { width: 2 * width, height: 2 * height }), pen = canvas.getContext("2d");
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg);
    await image.decode();
    pen.scale(2, 2);
    pen.drawImage(image, 0, 0);
    return canvas.toDataURL();
  },
};
const suffix = { CSV: "csv", LaTeX: "tex", PNG: "png" };
const withForms = (box) => {
  const name = box.getAttribute("aria-label").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60) || "table";
  box.after(make("div", Object.keys(forms).map((form) => {
    const button = make("button", form, { type: "button", "aria-label": `Save the table as ${form}: ${box.getAttribute("aria-label")}` });
    button.addEventListener("click", async () => offer(await forms[form](box), `${name}.${suffix[form]}`));
    return button;
  }), { class: "forms" }));
};
