"""Arguments in messages, as Python and as the shell write them."""

from __future__ import annotations

from atkay.text.phrases import argument, columns_argument, either, shell_syntax


def test_python_by_default() -> None:
    assert argument("train") == "train="
    assert argument("duplicates", "first") == "duplicates='first'"
    assert argument("min_relevance", 2.0) == "min_relevance=2"
    assert columns_argument(relevance=...) == "columns=Columns(relevance=...)"
    assert columns_argument(user=("day", "user")) == "columns=Columns(user=('day', 'user'))"
    assert either("result.save(path)", "--json FILE") == "result.save(path)"


def test_options_in_the_shell() -> None:
    with shell_syntax():
        assert argument("train") == "--train"
        assert argument("min_relevance", 2.5) == "--min-relevance 2.5"
        assert columns_argument(relevance=...) == "--column relevance=NAME"
        assert columns_argument(user="the user") == "--column 'user=the user'"
        assert columns_argument(user=("day", "user")) == "--column user=day,user"
        assert columns_argument(user=(...,)) == "--column user=NAME,NAME"
        assert either("result.save(path)", "--json FILE") == "--json FILE"
    assert argument("train") == "train="
