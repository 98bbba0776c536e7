"""Errors: their fields, and the sentence that these make."""

from __future__ import annotations

import copy
import pickle

import pytest

from atkay import errors
from atkay.errors import AtkayError, IdError, InputError, OutputError

KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, AtkayError)]


def test_the_sentence_has_what_where_and_what_to_do() -> None:
    error = IdError("is missing", advice="Fill it in.", table="recs", column="user", row=7, count=1300)
    text = "recs: 'user' is missing in row 7 (counting from 0), one of 1,300 such rows. Fill it in."
    assert str(error) == text
    assert str(error.replace(row=1007, note="Counted was one part.")).endswith("Fill it in. Counted was one part.")
    assert str(error.replace(run="new")) == f"run 'new': {text}"
    assert str(error.replace(count=1)) == "recs: 'user' is missing in row 7 (counting from 0). Fill it in."
    assert (error.table, error.column, error.row, error.count) == ("recs", "user", 7, 1300)


def test_a_text_alone_stays_as_it_is() -> None:
    assert str(InputError("recs: what is this?")) == "recs: what is this?"
    assert str(InputError("what is this?", table="recs", advice="Look.")) == "recs: what is this? Look."
    assert str(InputError("no rows", table="recs", advice="Add some.")) == "recs: no rows. Add some."


@pytest.mark.parametrize("kind", KINDS)
def test_errors_travel(kind: type[AtkayError]) -> None:
    error = kind("is missing", advice="Fill it in.", table="recs", column="user", row=7, count=3, note="So.", run="a")
    for same in (copy.copy(error), pickle.loads(pickle.dumps(error)), error.replace()):
        assert type(same) is kind
        assert str(same) == str(error)
        assert {name: getattr(same, name) for name in kind.FIELDS} == {
            name: getattr(error, name) for name in kind.FIELDS
        }


def test_an_error_of_the_disk_has_no_number() -> None:
    error = OutputError("the disk is full.")
    assert isinstance(error, OSError)
    assert str(error) == "the disk is full."
