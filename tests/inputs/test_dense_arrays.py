"""Arrays with a row per user: ids, scores of all items, (ids, scores), grades; whose rows they are; what is asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

import atkay
from atkay.errors import DuplicateError, IdError, InputError, OrderError, ProtocolError, SourceError

# Four users, six items; users 0 and 1 have an item without a score.
SCORES = np.array(
    [
        [0.1, 0.9, -np.inf, 0.5, 0.5, 0.2],
        [-0.5, -0.25, 0.75, -np.inf, 1.5, 0.0],
        [0.5, 0.5, 0.5, 0.25, 0.5, 0.5],
        [3.0, 2.0, 1.0, 0.5, 0.25, 0.0],
    ]
)
GRADES = np.array([[0, 0, 0, 0, 2.0, 1], [0, 1, 0, 0, 3, 0], [0, 0, 0, 1, 0, 0], [0, 0, 1, 0, 0, 0]])
USER, ITEM = np.nonzero(np.isfinite(SCORES))
ROWS = pl.DataFrame({"user": USER, "item": ITEM, "score": SCORES[USER, ITEM]})
TRUTH = {user: {item: GRADES[user, item] for item in np.flatnonzero(GRADES[user]).tolist()} for user in range(4)}
METRICS = ["mrr@3", "recall@2", "ndcg@3"]


class Tensor:
    """An array of a library that has DLPack and nothing else, as JAX's."""

    def __init__(self, array: Any) -> None:
        self._array = array
        self.shape, self.ndim = array.shape, array.ndim

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        device: tuple[int, int] = self._array.__dlpack_device__()
        return device


def test_the_numbers_of_scores() -> None:
    # Lists: 1, 3, 4 (3 comes first of two equal scores); 4, 2, 5; all equal but the last, 0, 1, 2; 0, 1, 2.
    result = atkay.evaluate(SCORES, GRADES, ["mrr@3", "recall@2", "hit@3"])
    assert result["mrr@3"] == pytest.approx((1 / 3 + 1 + 0 + 1 / 3) / 4)
    assert result["recall@2"] == pytest.approx((0 + 1 / 2 + 0 + 0) / 4)
    assert result["hit@3"] == pytest.approx(3 / 4)


@pytest.mark.parametrize(
    "recs",
    [
        SCORES,
        SCORES.astype(np.float32),
        (None, SCORES),
        np.ma.masked_less(np.where(-np.inf == SCORES, -7, SCORES), -6),
        Tensor(SCORES),
        np.asfortranarray(SCORES),
    ],
    ids=["array", "float32", "without ids", "masked", "DLPack", "by column"],
)
@pytest.mark.parametrize(
    "truth",
    [
        GRADES,
        sp.csr_array(GRADES),
        sp.coo_matrix(GRADES).tocsc(),
        Tensor(GRADES),
        pytest.param(lambda: sp.csr_matrix(GRADES).todense(), id="todense"),
    ],
)
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_forms_of_scores_and_grades(recs: Any, truth: Any) -> None:
    truth = truth() if callable(truth) else truth
    expected = atkay.evaluate(ROWS, TRUTH, ["ndcg", *METRICS])
    result = atkay.evaluate(recs, truth, ["ndcg", *METRICS])  # a metric of whole lists reads all of them
    assert result.table.equals(expected.table)
    assert result.fingerprint == expected.fingerprint
    assert result.population == expected.population
    assert atkay.evaluate(recs, truth, METRICS).table.equals(atkay.evaluate(ROWS, TRUTH, METRICS).table)


@pytest.mark.parametrize("ties", ["given", "item", "item_desc", "best", "worst", "random", "expected"])
@pytest.mark.parametrize(
    "exclude", [None, {0: [1], 2: [0, 1, 2]}, sp.csr_array(np.isin(SCORES, (0.75, 0.9, 1.5, 2, 3))), [1, 4]]
)
def test_the_top_of_scores_is_that_of_whole_lists(ties: Any, exclude: Any) -> None:
    top = atkay.evaluate(SCORES, GRADES, METRICS, ties=ties, exclude=exclude)
    whole = atkay.evaluate(ROWS, TRUTH, METRICS, ties=ties, exclude=exclude)
    assert top.table.equals(whole.table)


def test_what_is_counted_of_scores() -> None:
    """The top 2 and ties with the last of them: 1, 3, 4; 4, 2; the five equal ones; 0, 1."""
    assert atkay.evaluate(SCORES, GRADES, "recall@2").population.listed == 3 + 2 + 5 + 2
    assert atkay.evaluate(SCORES, GRADES, "recall").population.listed == len(ROWS)
    # User 0 has the items 1 and 3 taken out, user 2 one, so their lists are read to 4 and 3 places: 1, 3, 4 and 5.
    seen = sp.csr_array(np.array([[0, 1, 0, 1, 0, 0], [0] * 6, [1, 0, 0, 0, 0, 0], [0] * 6]))
    population = atkay.evaluate(SCORES, GRADES, "recall@2", exclude=seen).population
    assert (population.listed, population.excluded) == (4 + 2 + 5 + 2, 3)


def test_scores_among_candidates() -> None:
    only = {0: [0, 5], 1: [0, 1], 2: [3], 3: [4, 2]}
    result = atkay.evaluate(SCORES, GRADES, METRICS, candidates=only)
    assert result.table.equals(atkay.evaluate(ROWS, TRUTH, METRICS, candidates=only).table)
    # 5 before 0; 1 before 0; 3; 2 before 4: the first of each is relevant.
    assert result["mrr@3"] == 1


def test_scores_in_parts_and_in_a_stream() -> None:
    expected = atkay.evaluate(ROWS, TRUTH, METRICS).table
    assert atkay.evaluate(SCORES, GRADES, METRICS, memory="100MB").table.equals(expected)
    stream = atkay.Stream(METRICS)
    stream.update(scores=SCORES, targets=GRADES)
    assert stream.compute().to_dict() == dict(zip(expected["metric"], expected["mean"], strict=True))


def test_ids_with_scores() -> None:
    ids = np.array([[1, 3, 4], [4, 2, -1], [5, 3, 0], [0, 1, 2]], np.int32)
    scores = np.array(
        [[0.9, 0.5, 0.25], [1.5, 0.75, 9], [0.5, 0.4, -np.inf], [3, 2, np.finfo(np.float32).min]], np.float32
    )
    lists = {0: [1, 3, 4], 1: [4, 2], 2: [5, 3], 3: [0, 1]}
    expected = atkay.evaluate(lists, TRUTH, METRICS)
    for recs in ((ids, scores), (Tensor(ids), Tensor(scores)), (np.ma.masked_less(ids, 0), scores)):
        result = atkay.evaluate(recs, GRADES, METRICS)
        assert result.table.equals(expected.table)
        assert result.fingerprint["recs"] == expected.fingerprint["recs"]
    # The scores order the lists, as those of a table do.
    turned = atkay.evaluate((ids[:2, [1, 0, 2]], scores[:2, [1, 0, 2]]), sp.csr_array(GRADES[:2]), METRICS)
    assert turned.fingerprint["recs"] == atkay.evaluate({0: [1, 3, 4], 1: [4, 2]}, TRUTH, METRICS).fingerprint["recs"]


def test_users_of_the_rows() -> None:
    ids, users = np.array([[2, 1], [3, 4]]), np.array([3, 2])
    # User 3 finds item 2 at rank 1, user 2 item 3; users 0 and 1 have truth, and no list.
    by_number = atkay.evaluate(ids, sp.csr_array(GRADES), "mrr", users=users)
    assert by_number["mrr"] == pytest.approx((0 + 0 + 1 + 1) / 4)
    assert by_number.fingerprint == atkay.evaluate({3: [2, 1], 2: [3, 4]}, TRUTH, "mrr").fingerprint
    # Arrays with as many rows are of the same users.
    rows = atkay.evaluate(ids, GRADES[users], "mrr", users=users, exclude=np.array([[1], [4]]))
    assert rows["mrr"] == 1
    assert rows.per_query["user"].to_list() == [2, 3]
    named = atkay.evaluate(ids, {"ann": [2], "bob": [4]}, "mrr", users=["ann", "bob"])
    assert named["mrr"] == pytest.approx((1 + 1 / 2) / 2)
    scored = atkay.evaluate(SCORES[users], sp.csr_array(GRADES), METRICS, users=users, exclude=sp.csr_array(SCORES > 2))
    lists = ROWS.filter(pl.col("user") > 1)
    assert scored.table.equals(atkay.evaluate(lists, TRUTH, METRICS, exclude={3: [0]}).table)
    runs = {"one": ids, "other": ids[:, ::-1]}
    assert atkay.compare(runs, sp.csr_array(GRADES), "mrr", users=users, permutations=100).results["one"]["mrr"] == 0.5


@pytest.mark.parametrize(
    ("recs", "truth", "users", "error", "message"),
    [
        ([[1], [2]], [[1], [2]], [7], InputError, "users has 1 id, but recs has 2 rows. Pass one id per row"),
        ([[1], [2]], [[1], [2]], [7, 7], DuplicateError, "users: id 7 appears more than once"),
        (
            {1: [1]},
            [[1]],
            [1],
            InputError,
            "recs: users= names the rows of an array or a list of lists, but a dict names",
        ),
        (
            [[1], [2]],
            [[1]] * 3,
            [0, 3],
            IdError,
            "truth: has 3 rows for 2 users, so its rows must be user numbers, but users",
        ),
        ([[1], [2]], [[1]] * 3, ["a", "b"], IdError, "users has 'a'"),
        ([[1], [2]], [[1], [2]], [1, 0], InputError, "row 0 of truth could be user 1 or user 0"),
    ],
)
def test_users_that_do_not_fit(recs: Any, truth: Any, users: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        atkay.evaluate(recs, truth, "mrr", users=users)


def test_users_of_files() -> None:
    with pytest.raises(ProtocolError, match=r"users=.* names the rows of arrays in memory"):
        atkay.evaluate([[1]], [[1]], "mrr", users=[1], memory="1GB")


WHOLE = np.array([[3.0, 1.0, 2.0], [5.0, 4.0, 0.0]])
ASKED: dict[str, tuple[Any, Any, str]] = {
    "lists of whole floats": (
        WHOLE,
        [[1], [2]],
        r"recs: floats without fractions could be item ids, or a matrix of scores",
    ),
    "grades of whole floats": (
        [[1], [2]],
        WHOLE,
        r"truth: floats without fractions could be item ids, or a matrix of grad",
    ),
    "NaN within rows": (np.array([[3.0, np.nan, 2]]), [[1]], "recs: floats with NaN within rows"),
    "a pivot of ratings": ([[1]], np.array([[4.0, np.nan, 4.0]]), "truth: floats with NaN within rows, or values that"),
    "0 and 1": ([[1], [2]], np.array([[0, 1, 1], [1, 0, 1]]), "truth: .* this one has only values 0 and 1"),
    "grades as integers": ([[1], [2]], np.array([[0, 3, 0], [4, 0, 0]]), "truth: .* row 0 of this one repeats 0"),
    "grades of one row without 0": (
        [[1], [2]],
        np.array([[1, 3, 2, 5, 4], [0, 0, 5, 0, 1]]),
        "truth: .* row 1 of this one repeats 0.* array.astype.bool., or of grades, scipy.sparse.csr_array.array.",
    ),
    "grades without 0": (
        [[1], [2]],
        np.array([[1, 3, 2, 5, 4], [3, 3, 5, 2, 1]]),
        "truth: .* row 1 of this one repeats 3",
    ),
    "triples": (
        np.array([[0, 1, 0.9], [0, 2, 0.8], [1, 0, 0.7]]),
        [[1], [0]],
        r"recs: an array of three columns.* could be rows of user, item and score, or a matrix",
    ),
    "triples of truth": (
        [[1], [0]],
        np.array([[0, 1, 4.5], [1, 0, 3.0]]),
        r"truth: an array of three columns.* user, item and relevance, or a matrix",
    ),
    "padded with 0": (np.array([[3, 0, 0], [4, 0, 0]]), [[1], [2]], "recs: .* row 0 of this one repeats 0"),
    "rows padded with 0": (np.array([[3, 1, 2], [4, 0, 0]]), [[1], [2]], "recs: .* row 1 of this one repeats 0"),
}


@pytest.mark.parametrize("case", ASKED)
def test_what_could_be_ids_or_a_matrix(case: str) -> None:
    recs, truth, message = ASKED[case]
    with pytest.raises(InputError, match=message) as refused:
        atkay.evaluate(recs, truth, "mrr")
    assert any(each in str(refused.value) for each in ("If they are ids", "Pad ids", "If they are rows"))
    targets = truth if isinstance(truth, np.ndarray) else None
    if targets is not None:  # a stream has the same rule
        with pytest.raises(InputError, match=message.replace("truth", "update: targets")):
            atkay.Stream("mrr").update(recs, targets)
        vectors = np.eye(len(recs))
        with pytest.raises(InputError, match=message):
            atkay.full_ranking(vectors, vectors, targets, "mrr")


def test_the_answers_to_these_questions() -> None:
    # As ids: users find 1 at rank 2, and 4 at rank 2. As scores: the lists are 0, 2, 1 and 0, 1, 2.
    assert atkay.evaluate(WHOLE.astype(int), [[1], [4]], "mrr")["mrr"] == 1 / 2
    assert atkay.evaluate((None, WHOLE), [[1], [2]], "mrr")["mrr"] == pytest.approx(1 / 3)
    padded = np.array([[3, 1, np.nan], [4, np.nan, np.nan]])
    assert atkay.evaluate(padded, [[1], [4]], "mrr")["mrr"] == (1 / 2 + 1) / 2
    flags = np.array([[0, 1, 1], [1, 0, 1]])
    for truth in (flags.astype(bool), flags > 0, sp.csr_array(flags)):
        assert atkay.evaluate([[0, 1], [0, 1]], truth, "mrr")["mrr"] == (1 / 2 + 1) / 2
    for truth in (flags.astype(bool), np.array([[1, 2], [0, 2]])):
        stream = atkay.Stream("mrr")
        stream.update([[0, 1], [0, 1]], truth)
        assert stream.compute()["mrr"] == (1 / 2 + 1) / 2
        # Scores are 2, 1, 0 for user 0, and 0, 1, 2 for user 1.
        vectors = np.array([[2.0, 0], [1, 1], [0, 2]])
        ranked = atkay.full_ranking(np.eye(2), vectors, truth, "mrr")
        assert ranked["mrr"] == (1 / 2 + 1) / 2
    seen = atkay.evaluate([[0, 1], [0, 1]], [[1], [1]], "mrr", exclude=np.array([[True, False], [False, False]]))
    assert seen["mrr"] == (1 + 1 / 2) / 2


@pytest.mark.parametrize(
    ("recs", "error", "message"),
    [
        (np.array([[True, False]]), OrderError, "recs: a matrix of booleans has no order. Pass users x k item ids"),
        (np.array([[0.5, np.nan]]), OrderError, r"recs: scores\[0, 1\] is nan, which cannot be ranked. Use -inf"),
        (np.array([[0.5, np.inf]]), OrderError, r"recs: scores\[0, 1\] is inf"),
        ((np.array([[1, 2]]), np.array([[3, 4]])), SourceError, r"a tuple of two arrays is \(ids, scores\)"),
        (
            (np.array([[0.5, 0.25]]), np.array([[3, 4]])),
            SourceError,
            "the first holds floats and the second integers. Swap",
        ),
        ((np.array([[1, 2]]), np.array([[0.5]])), SourceError, r"two arrays of one shape.*\(1, 2\).*\(1, 1\)"),
        ((np.array([[1, 2]]), np.array([[0.25, 0.5]])), OrderError, "are they distances, of which the lowest is best"),
    ],
)
def test_arrays_that_are_refused(recs: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        atkay.evaluate(recs, [[1]], "mrr")


def test_arrays_of_a_device() -> None:
    class Elsewhere(Tensor):
        def __dlpack__(self, **options: Any) -> Any:
            raise BufferError("the array is on a GPU")

    with pytest.raises(
        SourceError, match=r"recs: cannot read an Elsewhere by DLPack: the array is on a GPU. Copy it to"
    ):
        atkay.evaluate(Elsewhere(SCORES), GRADES, "mrr")


def test_blocks_of_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many small blocks, of users that need different depths, give what one gives."""
    from atkay.inputs import array_sources

    scores = np.random.default_rng(5).random((300, 40)).round(2)
    depth = np.arange(300) % 45 + 1
    whole = array_sources.best(scores, depth)
    monkeypatch.setattr(array_sources, "ENTRIES_PER_BLOCK", 100)
    blocks = array_sources.best(scores, depth)
    begin = 0
    for user, length in enumerate(blocks.length):
        items = blocks.item[begin : begin + length].tolist()
        least = np.sort(scores[user])[::-1][min(depth[user], 40) - 1]
        assert items == np.flatnonzero(scores[user] >= least).tolist()
        assert (scores[user, blocks.item[begin : begin + length]] == blocks.value[begin : begin + length]).all()  # type: ignore[index]  # scores have values
        begin += length
    assert whole.length.tolist() == blocks.length.tolist()
    assert whole.item.tolist() == blocks.item.tolist()


def test_scores_that_tie_in_single_precision_are_all_read() -> None:
    """Items 2 and 4 of the first user are at rank 3, and tie after rounding to float32 alone."""
    scores = np.array([[2.25, 1.5, 0.5, 0.1, 0.5 + 1e-12], [5.5, 4, 3, 2, 1]])
    truth = {0: [2], 1: [0]}
    # After rounding item 2 comes first of the two, at rank 3: (1/3 + 1) / 2; before it item 4 does: (0 + 1) / 2.
    for precision, mean in (("float32", 2 / 3), ("exact", 1 / 2)):
        result = atkay.evaluate(scores, truth, "mrr@3", scores=precision, ties="item")  # type: ignore[arg-type]  # a word
        assert float(result["mrr@3"]) == pytest.approx(mean), precision
        stream = atkay.Stream("mrr@3", scores=precision, ties="item")  # type: ignore[arg-type]  # a word
        stream.update(scores=scores, targets=[[2], [0]])
        assert float(stream.compute()["mrr@3"]) == pytest.approx(mean), precision


def test_the_answer_for_a_matrix_with_gaps_leaves_these_out() -> None:
    # Item 0 is relevant to user 0, item 2 to user 1; the lists begin with 1, so both are found at rank 2.
    gaps = np.array([[4.0, np.nan, np.nan], [np.nan, np.nan, 4.0]])
    pivot = np.vstack([gaps, [[np.nan, 4.0, 4.0]]])
    with pytest.raises(InputError, match=r"pass numpy.nan_to_num\(array\).astype\(bool\), or of grades, .*csr_array"):
        atkay.evaluate([[1, 0], [1, 2], [0, 1]], pivot, "mrr")
    recs = [[1, 0], [1, 2], [0, 1]]
    for truth in (np.nan_to_num(pivot).astype(bool), sp.csr_array(np.nan_to_num(pivot))):
        assert atkay.evaluate(recs, truth, "mrr")["mrr"] == 1 / 2
    masked = np.ma.masked_invalid(pivot)
    with pytest.raises(InputError, match=r"numpy.nan_to_num\(array.filled\(0\)\).astype"):
        atkay.evaluate(recs, masked, "mrr")


def test_one_column_of_scores() -> None:
    """Keras returns predictions as a column; the pairs are (0, a), (0, b), (1, a), (1, b)."""
    truth = pl.DataFrame({"user": [0, 0, 1, 1], "item": ["a", "b", "a", "b"], "relevance": [1, 0, 1, 0]})
    predictions = np.array([[0.9], [0.1], [0.2], [0.8]])
    with pytest.raises(InputError, match=r"recs: an array of shape \(4, 1\) could be .* pass predictions.ravel\(\)"):
        atkay.evaluate(predictions, truth, "mrr")
    assert atkay.evaluate(predictions.ravel(), truth, "mrr")["mrr"] == (1 + 1 / 2) / 2


def test_items_beyond_the_columns() -> None:
    """Ids that count from 1 would miss every item by one."""
    scores = np.array([[0.5, 0.4, 0.3, 0.2, 0.1]])
    for recs in (scores, sp.csr_array(scores)):
        for truth, item in (({0: [7]}, 7), ({0: [1, 5]}, 5), ({0: [-2]}, -2)):
            with pytest.raises(IdError, match=rf"truth: 'item' holds {item}, but items are columns .* from 0 to 4"):
                atkay.evaluate(recs, truth, "mrr")
        assert atkay.evaluate(recs, {0: [4]}, "mrr")["mrr"] == 1 / 5
    with pytest.raises(IdError, match="recs: 'item' holds 6, but items are columns of an array in truth, from 0 to 1"):
        atkay.evaluate({0: [6]}, np.array([[True, False]]), "mrr")


@pytest.mark.parametrize("form", [np.array, sp.csr_array])
def test_nan_is_no_member(form: Any) -> None:
    lists, truth = {0: [0, 1, 2], 1: [0, 1, 2]}, {0: [0], 1: [1]}
    with pytest.raises(InputError, match=r"exclude of row 0 has NaN for item 0, which is neither true nor false"):
        atkay.evaluate(lists, truth, "mrr", exclude=form([[np.nan, 0.5, 0.0], [0.0, 0.0, 1.0]]))
    # 0.5 and 1 are members: item 1 of user 0 and item 2 of user 1 are removed, and hits stand at ranks 1 and 2.
    assert atkay.evaluate(lists, truth, "mrr", exclude=form([[0.0, 0.5, 0.0], [0.0, 0.0, 1.0]]))["mrr"] == 0.75
