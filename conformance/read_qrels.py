"""Read every qrels file of a folder, and print which ones are refused or read differently from trec_eval.

    python conformance/read_qrels.py FOLDER [PATTERN]

Each file is evaluated against the lists of its own relevant documents, the best first. Then nDCG is 1, and there are as
many queries and relevant documents as the plain loop below finds, which reads lines as trec_eval 10 does: four fields
between white space, the second ignored, and "#" begins a comment.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from pathlib import Path

import atkay


def relevant_documents(path: Path) -> dict[str, list[str]]:
    """The documents with a grade above 0 of each query, the best first."""
    grades: dict[str, list[tuple[float, str]]] = {}
    for line in path.read_text(encoding="utf-8-sig").split("\n"):
        if line.strip() and not line.lstrip().startswith("#"):
            query, _, document, grade = line.split()
            if float(grade) > 0:
                grades.setdefault(query, []).append((-float(grade), document))
    return {query: [*dict.fromkeys(document for _, document in sorted(rows))] for query, rows in grades.items()}


def problem(path: Path) -> str:
    """What is wrong with how the file was read; empty where nothing is."""
    recs = relevant_documents(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", atkay.errors.AtkayWarning)
        try:
            result = atkay.evaluate(recs, path, "ndcg")
        except atkay.errors.AtkayError as error:
            return f"refused: {error}"
    expected = {"evaluated": len(recs), "relevant": sum(map(len, recs.values()))}
    found = {"evaluated": result.population.evaluated, "relevant": result.population.relevant}
    if found != expected or abs(result["ndcg"] - 1) > 1e-12:
        return f"WRONG: nDCG {result['ndcg']:.6f}, {found}; expected 1, {expected}"
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
