"""Serendipity: listed items that are relevant and not obvious."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from atkay.core.kernels import sums
from atkay.core.lists import Lists, rows_of
from atkay.core.match import place_in
from atkay.errors import SpecError
from atkay.metrics.metric import Definition, Floats, Ints, Judged, Metric, divide, word
from atkay.metrics.vectors import unit_vectors, vectors_of

NEEDS = {
    "murakami": ("reference", "catalog"),
    "rectools": ("train", "catalog"),
    "ge": ("reference",),
    "unexpectedness": ("reference",),
    "adamopoulos": ("reference",),
    "cosine": ("train",),
}


NUMBERS_PER_BLOCK = 16
"""Vector components per block, so that their sums stay in the cache."""


@dataclass(frozen=True)
class Serendipity(Metric):
    """How much of the list is relevant and yet not obvious. Several definitions go by this name and do not agree.

    ::

        murakami        Σ max(P - P0, 0) · rel / L    P0 from the reference; form=ranked: term · hits so far / rank
        rectools        Σ max(P - P0, 0) · rel / L    P0 from the popularity in training
        ge              |relevant items outside the reference list| / L, or / |listed items outside of it|
        unexpectedness  |listed items outside the reference list| / L
        adamopoulos     |relevant items outside the reference list| / L
        cosine          Σ (1 - mean cosine to the items of the user's history) · rel / L

    over the L items of the top k; rel is 1 for a relevant item and 0 for any other.

    Conventions
    -----------
    kind
        ``murakami`` (Murakami et al. 2008): P is how much the model likes an item, P0 how much a reference model does.
        Lists tell ranks, not likings, so P = (n + 1 - rank) / n over the n items of the ``catalog``, and P0 the same
        for the item's place in the ``reference``, 0 where it is not there. ``rectools`` (RecTools): the same P; P0 = (n
        + 1 - r) / n, with r the item's place among the distinct numbers of users that items have in ``train``, the
        highest first; 0 for an item without training users. It needs ``catalog``, too. ``ge`` (Ge et al. 2010): the
        ``reference`` is the reference model. ``unexpectedness`` (Adamopoulos and Tuzhilin 2014): the ``reference`` is
        what the user expects; the items need not be relevant. ``adamopoulos`` is that with relevant items alone: as
        ``ge`` per listed item, with a set of expected items instead of a model. ``cosine`` (Zhang et al. 2012; the
        Recommenders library): similarity to each item that the user had in ``train``.
    per
        ``listed`` divides by the items listed, L; ``k`` by k, however short the list is (without a cutoff that is L);
        ``unexpected`` by the listed items outside the reference list, for ``ge`` alone.
    form
        ``plain`` or ``ranked``, the second form of Murakami et al.; for ``murakami`` alone.
    similarity
        ``shared`` takes n_ij / sqrt(n_i n_j) with n_ij the training users of both items; ``features`` the cosine of
        the items' vectors in ``features``; a pair with nothing in common, or without vectors, counts 0. For ``cosine``
        alone. A word that a kind does not know is refused, not passed over.

    The reference's whole list counts, whatever k is. No hit scores 0, so does a list without an unexpected item under
    ``per=unexpected``. ``cosine`` has no value for a user without history, ``unexpectedness`` none for an empty list.

    References
    ----------
    Murakami, Mori and Orihara, Metrics for evaluating the serendipity of recommendation lists, 2008.
    Ge, Delgado-Battenfeld and Jannach, Beyond accuracy: evaluating recommender systems by coverage and serendipity,
    2010.
    Zhang, Ó Séaghdha, Quercia and Jambor, Auralist: introducing serendipity into music recommendation, 2012.
    Adamopoulos and Tuzhilin, On unexpectedness in recommender systems: or how to better expect the unexpected, 2014.

    Examples
    --------
    The list is a b c d, the reference lists a and b, and b and c are relevant. Only c is relevant and outside the
    reference: 1 of 4 listed, 1 of the 2 unexpected (c and d). Of the 4 listed, 2 are unexpected.

    >>> given = {"ann": list("abcd")}, {"ann": list("bc")}
    >>> kinds = ["serendipity(kind=ge)", "serendipity(kind=ge,per=unexpected)", "serendipity(kind=unexpectedness)"]
    >>> atkay.evaluate(*given, kinds, reference={"ann": list("ab")}).query_values
    array([[0.25, 0.5 , 0.5 ]])

    Over a catalogue of 5, P of b is 4/5, as is its P0: nothing is gained. P of c is 3/5, its P0 is 0: 3/5 / 4. In the
    ranked form c counts 2/3, being the second hit, at rank 3.

    >>> kinds = ["serendipity", "serendipity(form=ranked)"]
    >>> result = atkay.evaluate(*given, kinds, reference={"ann": list("ab")}, catalog=list("abcde"))
    >>> result.query_values.round(6)
    array([[0.15, 0.1 ]])
    """

    name = "serendipity"
    reads_lists = True
    partial = True

    kind: Literal["murakami", "rectools", "ge", "unexpectedness", "adamopoulos", "cosine"] = word(
        murakami="what the model likes more than a reference model, by ranks",
        rectools="what ranks higher than by popularity",
        ge="what a reference model does not list",
        unexpectedness="unexpected items, relevant or not",
        adamopoulos="unexpected relevant items",
        cosine="relevant items unlike the user's history",
    )
    per: Literal["listed", "unexpected", "k"] = word(
        listed="the items listed",
        unexpected="the listed items outside the reference list, for ge",
        k="k, however short the list is",
    )
    form: Literal["plain", "ranked"] = word(
        plain="each term as it is", ranked="each term times hits so far / rank, for murakami"
    )
    similarity: Literal["shared", "features"] = word(
        shared="from the training users of both items", features="from the items' vectors"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for field, chosen, kind in (
            ("per", "unexpected", "ge"),
            ("form", "ranked", "murakami"),
            ("similarity", "features", "cosine"),
        ):
            if getattr(self, field) == chosen and self.kind != kind:
                raise SpecError(f"serendipity: {field}={chosen} applies to kind={kind} only, and kind is {self.kind}.")

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]  # a word decides
        return ("train", "features") if self.similarity == "features" else NEEDS[self.kind]

    @property
    def needs_pairs(self) -> bool:  # type: ignore[override]  # a word decides
        return self.kind == "cosine" and self.similarity == "shared"

    @property
    def looks_back(self) -> bool:  # type: ignore[override]  # a word decides
        """At what the list is unlike."""
        return self.kind == "cosine"

    @property
    def needs_truth(self) -> bool:  # type: ignore[override]  # a word decides
        """Unexpected items need not be relevant."""
        return self.kind != "unexpectedness"

    @property
    def better(self) -> str:  # type: ignore[override]  # a word decides
        """How unexpected a list should be depends on the product."""
        return "neither" if self.kind == "unexpectedness" else "higher"

    @property
    def by_item(self) -> bool:  # type: ignore[override]  # a word decides
        """Of two relevant items one may be expected; where all items count, so does the top k as a whole."""
        return self.kind != "unexpectedness"

    @property
    def bounded(self) -> bool:  # type: ignore[override]  # a word decides
        """Vectors may point away from each other."""
        return self.similarity == "shared"

    def values(self, judged: Judged) -> Floats:
        if self.kind == "unexpectedness":
            unexpected = _unexpected(judged, self.cutoffs)
            return np.where(judged.n_listed[:, None] > 0, divide(unexpected, self._per(judged)), np.nan)
        inside = np.flatnonzero(judged.rank <= max(self.cutoffs))
        hits = judged.query[inside], judged.rank[inside], judged.item[inside]
        worth = self._worth(judged, *hits)
        if self.form == "ranked":
            worth *= judged.nth[inside] / hits[1]
        out = divide(sums(hits[0], hits[1], worth, self.cutoffs, judged.n_queries), self._per(judged))
        if self.kind == "cosine":
            out[judged.train.items.length[judged.train.user] == 0] = np.nan
        return out

    def _worth(self, judged: Judged, query: Ints, rank: Ints, item: Ints) -> Floats:
        """How surprising each hit is."""
        match self.kind:
            case "murakami" | "rectools":
                n = int(np.count_nonzero(judged.catalog))
                by_popularity = self.kind == "rectools"
                place = _popularity_rank(judged, item) if by_popularity else place_in(judged.reference, query, item)
                # More levels of popularity, or a longer reference, than there are items would lead below 0.
                reference = np.where(place > 0, np.maximum(n + 1 - place, 0) / n, 0.0)
                gained: Floats = np.maximum((n + 1 - rank) / n - reference, 0.0)
                return gained
            case "cosine":
                cosine = _cosine_of_vectors if self.similarity == "features" else _cosine_of_users
                return 1 - cosine(judged, query, item)
            case _:
                unexpected: Floats = (place_in(judged.reference, query, item) == 0).astype(float)
                return unexpected

    def _per(self, judged: Judged) -> Floats | Ints:
        if self.per == "k":
            return judged.depth(self.cutoffs)
        if self.per == "unexpected":
            return _unexpected(judged, self.cutoffs)
        return judged.listed(self.cutoffs)

    def define(self) -> Definition:
        words, term = {
            "murakami": (
                "sum over the relevant items of what P = (n + 1 - rank) / n is above the same for the reference list",
                "max(P - P0, 0)",
            ),
            "rectools": (
                "sum over the relevant items of what P = (n + 1 - rank) / n is above the same for the popularity rank",
                "max(P - P0, 0)",
            ),
            "ge": ("number of relevant items outside the reference list", "[relevant, not in reference]"),
            "unexpectedness": ("number of items outside the reference list", "[not in reference]"),
            "adamopoulos": ("number of relevant items outside the expected list", "[relevant, not expected]"),
            "cosine": (
                "sum over the relevant items of 1 - mean cosine to the items of the user's history, cosine from "
                + ("common users" if self.similarity == "shared" else "features"),
                "(1 - mean cos)",
            ),
        }[self.kind]
        if self.form == "ranked":
            words, term = f"{words}, times the precision at its rank", f"{term} · hits / rank"
        per, divisor = ("the number of items listed", "L")
        if self.per == "unexpected":
            per, divisor = "the number of items outside the reference list", "|unexpected|"
        elif self.per == "k" and self.k is not None:
            per = divisor = str(self.k)
        return Definition(f"{words}, in {self.top}, divided by {per}", f"Σ {term} / {divisor}")


def _unexpected(judged: Judged, cutoffs: tuple[int, ...]) -> Floats:
    """How many listed items are not in the reference list."""
    places = judged.top(max(cutoffs))
    return judged.over_list((place_in(judged.reference, places.query, places.item) == 0).astype(float), cutoffs)


def _popularity_rank(judged: Judged, item: Ints) -> Ints:
    """The place of each item's number of training users among all such numbers, 0 where nobody had it."""
    popularity = judged.train.popularity
    higher = np.cumsum((np.bincount(popularity) > 0)[::-1])[::-1]
    place: Ints = np.where(popularity > 0, higher[popularity], 0)[item]
    return place


def _cosine_of_vectors(judged: Judged, query: Ints, item: Ints) -> Floats:
    """The mean cosine of each item's vector with those of the user's history, 0 where there is none."""
    spec = "serendipity(kind=cosine,similarity=features)"
    vectors = unit_vectors(vectors_of(judged, spec, ("similarity=shared",) * 2, cosine=True))
    vectors = np.nan_to_num(vectors)  # an item without a vector, or with one of zeros, is like nothing
    history = judged.train.history
    has_hits = np.zeros(judged.n_queries, bool)
    has_hits[query] = True
    cosine = np.zeros(len(query))
    # The mean cosine is the product with the mean of the history's vectors of length 1, a few numbers at a time.
    for first in range(0, vectors.shape[1], NUMBERS_PER_BLOCK):
        unit = np.ascontiguousarray(vectors[:, first : first + NUMBERS_PER_BLOCK].T)
        middle = np.zeros((len(unit), judged.n_queries))
        for begin, end in history.blocks():
            users = np.flatnonzero(has_hits[begin:end] & (history.length[begin:end] > 0)) + begin
            if len(users):
                length = history.length[users]
                had, start = history.item[rows_of(history.start, users)], np.cumsum(length) - length
                for numbers, means in zip(unit, middle, strict=True):
                    means[users] = np.add.reduceat(numbers.take(had, mode="clip"), start) / length
        for numbers, means in zip(unit, middle, strict=True):
            cosine += numbers[item] * means[query]
    return np.clip(cosine, -1, 1)


def _cosine_of_users(judged: Judged, query: Ints, item: Ints) -> Floats:
    """The mean of n_ij / √(n_i n_j) over the user's history, 0 where there is none."""
    train = judged.train
    history = train.items.start, train.user[query]
    length = train.items.length[history[1]]
    total = np.zeros(len(item))
    for begin, end in Lists.of(length, item[:0], train.items.n_items).blocks():
        hit = np.repeat(np.arange(begin, end), length[begin:end])
        had = train.items.item[rows_of(history[0], history[1][begin:end])]
        known = np.flatnonzero(train.popularity[item[hit]])  # nobody had the others: they are like nothing
        hit, had = hit[known], had[known]
        total[begin:end] = np.bincount(hit - begin, train.likeness(item[hit], had), end - begin)
    return divide(total, length)
