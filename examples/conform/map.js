// MAP@k in JavaScript, for `atkay conform "node map.js" -m map@5`. Average precision is divided by min(k, R).
const lines = require("fs").readFileSync(0, "utf8").split("\n").filter(Boolean);

for (const line of lines) {
  const { k, recs, truth } = JSON.parse(line);
  const values = [];
  for (const [user, grades] of Object.entries(truth)) {
    const relevant = new Set(Object.keys(grades).filter((item) => grades[item] > 0));
    if (relevant.size === 0) continue;
    const rows = [...(recs[user] ?? [])].sort((one, other) => other[1] - one[1]);
    let hits = 0, sum = 0;
    [...new Set(rows.map(([item]) => item))].slice(0, k).forEach((item, at) => {
      if (relevant.has(item)) sum += ++hits / (at + 1);
    });
    values.push(sum / Math.min(k, relevant.size));
  }
  console.log(values.length ? values.reduce((one, other) => one + other) / values.length : "null");
}
