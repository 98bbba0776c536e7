"""The golden set: queries with the products that people judged relevant."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TRUTH = HERE / "truth.csv"
sys.path.insert(0, str(HERE.parent))

from search import search  # noqa: E402  # which lies in the folder above


def test_search(ranking_gate: Any) -> None:
    with TRUTH.open(newline="") as file:
        queries = dict.fromkeys(row["query"] for row in csv.DictReader(file))
    lists = {query: search(query) for query in queries}
    ranking_gate(lists, TRUTH, "ndcg@10,recall@10", min_effect="3%")
