"""A saved result comes out again, or what changed is named."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

import atkay
from atkay.errors import InputError, SpecError

RECS = "user,item\nann,tea\nann,rye\nbob,oat\n"
TRUTH = "user,item\nann,rye\nbob,oat\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("recs.csv").write_text(RECS)
    Path("truth.csv").write_text(TRUTH)
    Path("users.csv").write_text("user,age\nann,old\nbob,young\n")
    return tmp_path


def test_the_same_files_give_the_same_numbers(here: Path) -> None:
    atkay.evaluate("recs.csv", "truth.csv", ["mrr", "ndcg@1,2"], slices="users.csv").save("saved.json")
    check = atkay.verify("saved.json")
    assert check
    assert [each.metric for each in check.numbers[:3]] == ["mrr", "ndcg@1", "ndcg@2"]
    assert len(check.numbers) == 3 + 2 * 3  # and two segments
    assert check.verdict == "verified: 9 numbers and 3 tables are the same"


def test_files_may_lie_next_to_the_result(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    atkay.evaluate("recs.csv", "truth.csv", "mrr").save("saved.json")
    monkeypatch.chdir(here.parent)
    assert atkay.verify(here / "saved.json")


def test_a_pattern_of_files_and_paths_in_short(here: Path) -> None:
    (here / "saved").mkdir()
    atkay.evaluate("rec*.csv", here / "truth.csv", "mrr").save("saved/saved.json")
    check = atkay.verify("saved/saved.json")
    assert check.verdict == "verified: 1 number and 2 tables are the same"
    assert check.tables == {"recs": "rec*.csv", "truth": "truth.csv"}


def test_what_changed_is_named(here: Path) -> None:
    atkay.evaluate("recs.csv", "truth.csv", "mrr").save("saved.json")
    Path("recs.csv").write_text("user,item\nann,rye\nann,tea\nbob,oat\n")
    check = atkay.verify("saved.json")
    assert not check
    assert check.changed == ("recs",)
    assert [(each.saved, each.now) for each in check.numbers] == [(0.75, 1.0)]  # (1/2 + 1) / 2, and 1
    assert check.verdict == "not the same: 1 of 1 number changed; 'recs' changed"
    Path("recs.csv").write_text(
        "user,item\nann,rye\nann,oat\nann,tea\nbob,oat\n".replace("rye\nann,oat", "oat\nann,rye")
    )
    same_numbers = atkay.verify("saved.json")  # another item above the hit
    assert [each.same for each in same_numbers.numbers] == [True]
    assert not same_numbers
    assert same_numbers.verdict == "not the same: 0 of 1 number changed; 'recs' changed"


def test_a_dialect_with_several_protocols(here: Path) -> None:
    Path("recs.csv").write_text("user,item\nann,tea\nann,rye\n")  # bob has no list: ndcg counts him, precision does not
    atkay.evaluate("recs.csv", "truth.csv", ["precision@2", "ndcg@2"], dialect="recommenders").save("saved.json")
    check = atkay.verify("saved.json")
    assert check, check
    assert check.numbers[0].now == 0.5


def test_tables_in_memory_are_passed(here: Path) -> None:
    recs, truth = {"ann": ["tea", "rye"], "bob": ["oat"]}, {"ann": ["rye"], "bob": ["oat"]}
    atkay.evaluate(recs, truth, "mrr", weights={"ann": 1, "bob": 3}).save("saved.json")
    with pytest.raises(InputError, match=r"does not name the files of 'truth', 'recs', 'weights'\. Pass truth="):
        atkay.verify("saved.json")
    assert atkay.verify("saved.json", recs, truth, weights={"ann": 1, "bob": 3})
    assert not atkay.verify("saved.json", recs, truth, weights={"ann": 1, "bob": 1})


def test_a_file_that_is_gone_or_has_other_columns(here: Path) -> None:
    atkay.evaluate("recs.csv", "truth.csv", "mrr").save("saved.json")
    pl.read_csv("recs.csv").rename({"user": "who"}).write_csv("moved.csv")
    Path("recs.csv").unlink()
    with pytest.raises(InputError, match=r"recs was read from 'recs\.csv', which is not there\. Pass recs="):
        atkay.verify("saved.json")
    check = atkay.verify("saved.json", "moved.csv", columns={"recs": atkay.Columns(user="who")})
    assert check
    assert "recs: columns were {'user': 'user', 'item': 'item'}, now {'user': 'who', 'item': 'item'}" in repr(check)


def test_ir_metadata_is_written_and_read(here: Path) -> None:
    yaml = pytest.importorskip("yaml")
    Path("run.trec").write_text("q1 Q0 d1 1 2.5 ours\nq1 Q0 d2 2 1.5 ours\n")
    Path("qrels.txt").write_text("q1 0 d2 1\n")
    result = atkay.evaluate("run.trec", "qrels.txt", ["mrr", "ndcg@10"], dialect="trec_eval", min_relevance=1)
    metadata = {**result.ir_metadata(), "actor": {"team": 'The "A" team: 1 # 2', "fields": ["IR", "RS"]}, "method": {}}
    atkay.write_ir_metadata("run.trec", "tagged.trec", metadata)
    lines = Path("tagged.trec").read_text().splitlines()
    assert lines[0] == "# ir_metadata.start"
    assert lines[-2:] == ["q1 Q0 d1 1 2.5 ours", "q1 Q0 d2 2 1.5 ours"]
    read = atkay.read_ir_metadata("tagged.trec")
    assert read == yaml.safe_load("\n".join(line[2:] for line in lines[1:-3]))
    assert read["actor"] == metadata["actor"]
    assert read["research goal"]["evaluation"]["reported measures"] == list(result)
    assert read["atkay"]["numbers"]["mrr"] == 0.5
    assert atkay.evaluate("tagged.trec", "qrels.txt", "mrr").fingerprint == result.fingerprint  # the head is no data
    atkay.write_ir_metadata("tagged.trec", "tagged.trec", {"actor": {"team": "B"}})  # in place of the first
    assert atkay.read_ir_metadata("tagged.trec") == {"actor": {"team": "B"}}
    assert atkay.read_ir_metadata("run.trec") == {}


def test_a_head_that_is_no_yaml(here: Path) -> None:
    pytest.importorskip("yaml")
    Path("run.trec").write_text("# ir_metadata.start\n# a: [\n# ir_metadata.end\nq1 Q0 d1 1 2.5 ours\n")
    with pytest.raises(InputError, match=r"the ir_metadata of 'run\.trec' is not YAML"):
        atkay.read_ir_metadata("run.trec")


def test_ir_metadata_of_a_compressed_run(here: Path) -> None:
    with gzip.open("run.trec.gz", "wt") as file:
        file.write("q1 Q0 d1 1 2.5 ours\n")
    metadata = {"a b": 1, "no": 2, "1": ["x"], "t: u": None}  # YAML reads 'no' and '1' as texts in quotes only
    atkay.write_ir_metadata("run.trec.gz", "tagged.trec.gz", metadata)
    assert atkay.read_ir_metadata("run.trec.gz") == {}
    assert atkay.read_ir_metadata("tagged.trec.gz") == metadata
    assert gzip.decompress(Path("tagged.trec.gz").read_bytes()).decode().endswith("q1 Q0 d1 1 2.5 ours\n")
    assert atkay.evaluate("tagged.trec.gz", {"q1": ["d1"]}, "mrr")["mrr"] == 1
    with pytest.raises(SpecError, match="metadata must be dicts, lists, texts and numbers"):
        atkay.write_ir_metadata("run.trec.gz", "other.trec", {"a": object()})
