"""What is tested here: a search for products by the words of their titles."""

from __future__ import annotations

import csv
from pathlib import Path

PRODUCTS = Path(__file__).parent / "products.csv"
SYNONYMS = {"sneaker": "shoe", "jumper": "sweater", "navy": "blue", "tee": "shirt"}


def products() -> dict[str, str]:
    """The title of each product."""
    with PRODUCTS.open(newline="") as file:
        return {row["item"]: row["title"] for row in csv.DictReader(file)}


def words(text: str) -> set[str]:
    """The words of a text, as the search compares them."""
    singular = (word.removesuffix("s") for word in text.lower().split())
    return {SYNONYMS.get(word, word) for word in singular}


def search(query: str, k: int = 10) -> list[str]:
    """The best products for a query: those that share most of its words, shorter titles first."""
    wanted = words(query)
    titles = {item: words(title) for item, title in products().items()}
    score = {item: len(wanted & title) / len(title) ** 0.5 for item, title in titles.items()}
    return sorted(score, key=lambda item: (-score[item], item))[:k]
