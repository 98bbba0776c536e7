"""Two files and a question: how good are these lists? And would another library say the same?"""

from __future__ import annotations

from pathlib import Path

import atkay
from atkay.metrics.base import conventions
from atkay.words import words_of

HERE = Path(__file__).parent / "data"


def main() -> None:
    recs, truth, users = (HERE / name for name in ("recs.csv", "truth.csv", "users.csv"))
    print("Film recommendations, against what twelve people came to like (examples/data):\n")
    result = atkay.evaluate(recs, truth, ["ndcg@5", "map@5", "mrr@5", "recall@5", "precision@5", "hit@5"])
    print(result)

    print("\nndcg@5 by when people joined:\n")
    print(atkay.evaluate(recs, truth, "ndcg@5", slices=users))

    words = next(words_of(each) for each in conventions(atkay.MAP) if each.name == "per")
    every = [atkay.MAP(per=word, k=5) for word in words]
    print("\nOne name, five numbers: MAP@5 of the same lists, by what it is divided by:\n")
    by_word = atkay.evaluate(recs, truth, every)
    for name, definition in by_word.definitions.items():
        print(f"  {name:22} {by_word[name]:.4f}   {definition.formula}")


if __name__ == "__main__":
    main()
