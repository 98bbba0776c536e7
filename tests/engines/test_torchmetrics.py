"""The torchmetrics interface: alone, in collections, in several processes, and under Lightning."""

from __future__ import annotations

import copy
import pickle
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import atkay
from atkay.errors import InputError

torch = pytest.importorskip("torch", reason="needs torch")
torchmetrics = pytest.importorskip("torchmetrics", reason="needs torchmetrics")

from torch_processes import FIRST, ITEMS, METRICS, USERS, WORDS, data, in_process, plain  # noqa: E402 - likewise

from atkay.engines.torchmetrics import StreamMetric  # noqa: E402 - it needs torch


def expected(rows: slice = slice(None)) -> dict[str, float]:
    """The numbers of evaluate, which sees all users at once."""
    scores, targets = (each[rows].numpy() for each in data())
    recs = {user: dict(enumerate(row.tolist())) for user, row in enumerate(scores)}
    truth = {user: np.flatnonzero(row).tolist() for user, row in enumerate(targets) if row.any()}
    return dict(atkay.evaluate(recs, truth, METRICS, catalog=list(range(ITEMS)), ties="item"))


def test_batches_give_the_numbers_of_evaluate() -> None:
    scores, targets = data()
    metric = StreamMetric(METRICS, **WORDS)
    for first in (16, 0, 8):
        metric.update(scores[first : first + 8], targets[first : first + 8])
    result = metric.compute()
    assert all(value.dtype == torch.float64 and value.ndim == 0 for value in result.values())
    assert plain(result) == pytest.approx(expected(), rel=1e-12)
    assert metric.result().population.evaluated == int(targets.any(axis=1).sum())
    metric.reset()
    metric.update(scores[:8], targets[:8])
    assert plain(metric.compute()) == pytest.approx(expected(slice(8)), rel=1e-12)


def test_forward_gives_the_batch_and_counts_it() -> None:
    scores, targets = data()
    metric = StreamMetric(METRICS, **WORDS)
    for first in (0, 8, 16):
        rows = slice(first, first + 8)
        assert plain(metric(scores[rows], targets[rows])) == pytest.approx(expected(rows), rel=1e-12)
        assert len(metric.parts) == 1
    assert plain(metric.compute()) == pytest.approx(expected(), rel=1e-12)


def test_lists_and_their_scores() -> None:
    # The second item is relevant; by score it is the first.
    items, targets = torch.tensor([[4, 7]]), torch.tensor([[7, -1]])
    as_listed, by_score = StreamMetric("mrr"), StreamMetric("mrr")
    as_listed.update(items, targets)
    by_score.update(torch.tensor([[0.25, 0.5]]), targets, items=items)
    assert (as_listed.compute()["mrr"].item(), by_score.compute()["mrr"].item()) == (0.5, 1)


def test_a_collection_with_other_metrics() -> None:
    scores, targets = data()
    both = torchmetrics.MetricCollection({"one": StreamMetric("mrr", **WORDS), "two": StreamMetric(METRICS, **WORDS)})
    for first in (0, 12):
        both.update(scores[first : first + 12], targets[first : first + 12])
    result = both.compute()
    assert {name: result[name].item() for name in METRICS} == pytest.approx(expected(), rel=1e-12)
    assert set(result) == {"mrr", *METRICS}
    both.reset()


def test_indexes_as_the_retrieval_metrics_take_them() -> None:
    rng = np.random.default_rng(5)
    preds, target = torch.tensor(rng.permutation(60) / 64 + 0.01), torch.tensor(rng.random(60) < 0.3)
    indexes = torch.tensor(rng.integers(0, 9, 60))
    theirs = {
        "RetrievalMAP": torchmetrics.retrieval.RetrievalMAP(),
        "RetrievalMRR": torchmetrics.retrieval.RetrievalMRR(),
        "RetrievalPrecision@3": torchmetrics.retrieval.RetrievalPrecision(top_k=3),
        "RetrievalNormalizedDCG": torchmetrics.retrieval.RetrievalNormalizedDCG(),
    }
    ours = StreamMetric(list(theirs), dialect="torchmetrics")
    ours.update(preds, target, indexes)
    result = ours.result()
    for name, metric in theirs.items():
        metric.update(preds, target, indexes=indexes)
        assert result[name] == pytest.approx(metric.compute().item(), rel=1e-6), name  # it computes in single precision


def test_state_travels() -> None:
    scores, targets = data()
    metric = StreamMetric(METRICS, **WORDS)
    metric.update(scores, targets)
    for again in (copy.deepcopy(metric), pickle.loads(pickle.dumps(metric)), metric.to("cpu"), metric.double()):
        assert plain(again.compute()) == pytest.approx(expected(), rel=1e-12)
    metric.persistent(True)
    other = StreamMetric(METRICS, **WORDS)
    other.load_state_dict(metric.state_dict())
    other.update(scores[:0], targets[:0])
    assert plain(other.compute()) == pytest.approx(expected(), rel=1e-12)
    fresh = StreamMetric(METRICS, **WORDS)
    fresh.merge_state(metric)
    fresh.update(scores[:0], targets[:0])
    assert plain(fresh.compute()) == pytest.approx(expected(), rel=1e-12)


def test_nobody_has_no_number() -> None:
    metric = StreamMetric("mrr")
    metric.update(torch.tensor([[1]]), torch.tensor([[-1]]))
    assert metric.compute()["mrr"].isnan()


def test_indexes_know_no_items() -> None:
    metric = StreamMetric("coverage", n_items=4)
    with pytest.raises(InputError, match="which say nothing about items"):
        metric.update(torch.ones(1), torch.ones(1), torch.zeros(1, dtype=torch.long))
    with pytest.raises(InputError, match="with indexes, scores and grades must be one-dimensional"):
        StreamMetric("mrr").update(torch.ones(2), torch.ones(1), torch.zeros(1, dtype=torch.long))


@pytest.mark.parametrize("name", ["items", "users", "exclude", "candidates"])
def test_indexes_stand_alone(name: str) -> None:
    with pytest.raises(InputError, match=f"update: '{name}' cannot be used with indexes"):
        StreamMetric("mrr").update(torch.ones(1), torch.ones(1), torch.zeros(1, dtype=torch.long), **{name: [[0]]})


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bool])
def test_the_state_stays_bytes(dtype: Any) -> None:
    scores, targets = data()
    metric = StreamMetric(METRICS, **WORDS)
    metric.update(scores[:8], targets[:8])
    assert metric.set_dtype(dtype) is metric
    assert [part.dtype for part in metric.parts] == [torch.uint8]
    metric.double().update(scores[8:], targets[8:])
    assert plain(metric.compute()) == pytest.approx(expected(), rel=1e-12)


def test_torchmetrics_own_arguments() -> None:
    assert StreamMetric("mrr", sync_on_compute=False).sync_on_compute is False


def test_processes_give_the_numbers_of_one(tmp_path: Path) -> None:
    torch.multiprocessing.spawn(in_process, (2, str(tmp_path)), nprocs=2)
    scores, targets = data()
    for stage, rows in enumerate((slice(FIRST), slice(None))):
        whole = StreamMetric(METRICS, **WORDS)
        whole.update(scores[rows], targets[rows])
        for rank in range(2):
            numbers = pickle.loads(Path(tmp_path, f"found{rank}-{stage}").read_bytes())
            assert numbers == plain(whole.compute())  # to the last bit
            assert numbers == pytest.approx(expected(rows), rel=1e-12)


@pytest.mark.filterwarnings("ignore:.*LeafSpec.* is deprecated:FutureWarning")  # Lightning asks torch in its old words
@pytest.mark.filterwarnings("ignore:.*does not have many workers:UserWarning")
@pytest.mark.parametrize("processes", [1, pytest.param(2, marks=pytest.mark.deep)])
def test_lightning(processes: int, tmp_path: Path) -> None:
    lightning = pytest.importorskip("pytorch_lightning", reason="needs pytorch-lightning")
    from torch_lightning import Ranker

    trainer = lightning.Trainer(
        accelerator="cpu",
        devices=processes,
        strategy="auto" if processes == 1 else "ddp_spawn",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=tmp_path,
    )
    trainer.validate(Ranker(str(tmp_path)), torch.utils.data.DataLoader(range(USERS), batch_size=5), verbose=False)
    for rank in range(processes):
        numbers = pickle.loads(Path(tmp_path, f"found{rank}").read_bytes())
        assert numbers == pytest.approx(expected(), rel=1e-12)
    logged = {name: value.item() for name, value in trainer.callback_metrics.items()}
    assert logged == pytest.approx(expected(), rel=1e-6)  # Lightning keeps single precision


def test_threads_that_share_a_metric_lose_nobody() -> None:
    metric = StreamMetric(["mrr", "recall@1"])
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def counting() -> None:
        for _ in range(25):
            metric.update(torch.tensor([[0, 1]]), torch.tensor([[1]]))

    threads = [threading.Thread(target=counting) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(before)
    assert metric.result().population.evaluated == 100
    assert metric.compute()["mrr"] == 0.5


def test_ece_is_that_of_torchmetrics() -> None:
    p, y = [n * 7 % 40 / 41 for n in range(60)], [n * n % 3 % 2 for n in range(60)]
    theirs = torchmetrics.functional.classification.binary_calibration_error(
        torch.tensor(p, dtype=torch.float64), torch.tensor(y), n_bins=15
    )
    ours = atkay.evaluate({1: dict(enumerate(p))}, {1: dict(enumerate(y))}, "ece")["ece"]
    assert ours == pytest.approx(float(theirs))
