"""nDCG@k in Python, for `atkay conform "python ndcg.py" -m ndcg@5`."""

import json
import math
import sys

for line in sys.stdin:
    case, values = json.loads(line), []
    for user, grades in case["truth"].items():
        ideal = sorted((grade for grade in grades.values() if grade > 0), reverse=True)[: case["k"]]
        if not ideal:
            continue
        rows = sorted(case["recs"].get(user, []), key=lambda row: -row[1])
        items = list(dict.fromkeys(item for item, _ in rows))[: case["k"]]
        gains = [max(grades.get(item, 0), 0) for item in items]
        dcg, best = (sum(gain / math.log2(at + 2) for at, gain in enumerate(each)) for each in (gains, ideal))
        values.append(dcg / best)
    print(sum(values) / len(values) if values else "null")
