"""Read every qrels file of a folder, and print which ones are refused or read differently from trec_eval.

    python conformance/read_qrels.py FOLDER [PATTERN]

The rows of each file are those that the plain loop below finds, which reads lines as trec_eval 10 does: four fields
between white space, the second ignored, and "#" begins a comment. And nDCG of the lists of a file's own relevant
documents, the best first, is 1.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from pathlib import Path

import atkay
from atkay.inputs.kinds import open_source

COLUMNS = ("qid", "docno", "rel")


class OtherFormatError(ValueError):
    """The file is none of qrels."""


def judgments(path: Path) -> list[tuple[str, str, float]]:
    """Query, document and grade of each line."""
    rows = []
    for line in path.read_text(encoding="utf-8-sig").split("\n"):
        if line.strip() and not line.lstrip().startswith("#"):
            query, _, document, grade = line.split()
            rows.append((query, document, float(grade)))
    return rows


def problem(path: Path) -> str:
    """What is wrong with how the file was read; empty where nothing is."""
    rows = judgments(path)
    recs: dict[str, list[str]] = {}
    for query, document, grade in sorted(rows, key=lambda row: -row[2]):
        if grade > 0:
            recs.setdefault(query, []).append(document)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", atkay.errors.AtkayWarning)
        try:
            source = open_source(path, "truth")
            if source.names != COLUMNS:
                raise OtherFormatError(f"the columns are {', '.join(source.names)}")
            read = source.select(COLUMNS).rows()
            ndcg = atkay.evaluate(recs, path, "ndcg")["ndcg"] if recs else 1.0
        except atkay.errors.AtkayError as error:
            return f"refused: {error}"
    different = [pair for pair in zip(read, rows, strict=False) if (*pair[0][:2], float(pair[0][2])) != pair[1]]
    if len(read) != len(rows) or different or abs(ndcg - 1) > 1e-12:
        return f"WRONG: nDCG {ndcg:.6f}, {len(read)} rows of {len(rows)}; {different[:1]}"
    return ""


def main(folder: str, pattern: str = "*qrels*") -> int:
    """Print a line per problem, and counts; 1 where there is any problem."""
    counts: Counter[str] = Counter()
    for path in sorted(each for each in Path(folder).rglob(pattern) if each.is_file()):
        try:
            text = problem(path)
        except (ValueError, UnicodeDecodeError) as error:
            text = f"not qrels: {error}"
        counts[text.partition(":")[0] or "read"] += 1
        if text:
            print(f"{path.name}: {text}")
    print(", ".join(f"{count} {what}" for what, count in counts.items()) or "no files")
    return int(set(counts) != {"read"})


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
