"""Layout: which numbers of a published table belong to which row, data set and metric, whichever way it is printed."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence

from atkay.audit.attainable import MetricColumn
from atkay.dialects.dialect import find_dialect
from atkay.errors import InputError, SpecError, listing
from atkay.evaluation.request import Request
from atkay.inputs.published import Published, number_in
from atkay.text.phrases import argument

NAMES = {
    "h": "hit",
    "hits": "hit",
    "hr": "hit",
    "hitrate": "hit",
    "hitratio": "hit",
    "n": "ndcg",
    "prec": "precision",
    "rec": "recall",
}


def column_of(header: str, k: int | None, dialect: str | None) -> MetricColumn | None:
    """The metric that a header names; None where it names none.

    >>> [str(column_of(name, 10, None).metric) for name in ("nDCG@K (%) ↑", "HR", "Hit Rate@5")]
    ['ndcg@10', 'hit@10', 'hit@5']
    """
    plain = re.sub(r"[↑↓%]|\(\s*%?\s*\)", "", header).strip()
    plain = re.sub(r"\s*(?:@|\bat\b)\s*(?:k\s*=\s*)?", "@", plain)
    plain = re.sub(r"(?<=\d),(?=\d{3})|(?<=@\d)k$", lambda match: match[0].replace(",", "").replace("k", "000"), plain)
    if len(plain) == 1:  # a count, a correlation, a p-value
        return None
    plain = re.sub(r"@[kKnN]$", "" if k is None else f"@{k}", plain)
    short = re.sub(r"[\s_-]", "", plain.lower().partition("@")[0])
    _, at, cut = plain.partition("@")
    spellings = [plain, re.sub(r"[\s-]+", "_", plain), short + at + cut, NAMES.get(short, short) + at + cut]
    for spelling in dict.fromkeys(spellings):
        try:
            request = Request.of([spelling], dialect=dialect)
        except (SpecError, InputError):
            continue
        [metric, *more] = request.metrics
        if more or isinstance(metric.k, tuple):
            return None
        protocol = request.apart.get(metric, request.protocol)
        if metric.k is None and metric.cuts and k is not None:
            metric = dataclasses.replace(metric, k=k)
        return MetricColumn(metric, protocol, dialect is not None or "per=" in header)
    return None


def upright(tables: Sequence[Published], k: int | None, dialect: str | None) -> Published:
    """The first table that names metrics, with a column for each of them and a name of its own for each row."""
    if dialect is not None:
        find_dialect(dialect)
    for table in tables:
        if (turned := _upright(table, k, dialect)) is not None:
            return turned
    names = listing(name for name in tables[0].headers[-1][1:] if name)
    raise InputError(
        f"check: no column of the table names a metric that atkay knows; columns are {names}. Name them as in "
        f"'ndcg@10', or pass {argument('dialect')}."
    )


def _upright(table: Published, k: int | None, dialect: str | None) -> Published | None:
    def of_metrics(names: Iterable[str]) -> bool:
        return any(column_of(name, k, dialect) for name in names)

    naming = [at for at, row in enumerate(table.headers) if of_metrics(row)]
    last = [name.rpartition(" ") for name in table.headers[-1]]
    if not naming and of_metrics(name for _, _, name in last):  # after the name of a data set
        split = tuple(above for above, _, _ in last), tuple(name for _, _, name in last)
        return _upright(Published((*table.headers[:-1], *split), table.rows), k, dialect)
    if naming:  # rows below it, without numbers, are systems without results
        headers = table.headers[: naming[-1] + 1]
        if of_metrics(headers[-1][:1]):  # no names
            rows = tuple((f"row {at}", *row) for at, row in enumerate(table.rows, 1))
            return Published(tuple(("", *row) for row in headers), rows)
        return _named(headers, table.rows)
    columns = list(zip(*table.rows, strict=True))
    width = next((at for at, cells in enumerate(columns) if any(map(number_in, cells))), len(columns))
    metrics = next((at for at, cells in enumerate(columns[:width]) if of_metrics(cells)), None)
    if metrics is None:
        return None
    above = [_joined(row[at] for at in range(width) if at != metrics) for row in table.rows]
    names = [_joined(cells) for cells in list(zip(*table.headers, strict=True))[width:]]
    headers = (("", *above), (table.headers[-1][metrics], *columns[metrics]))
    turned = [(name, *cells) for name, cells in zip(names, columns[width:], strict=True)]
    return _named(headers if any(above) else headers[1:], turned)


def _named(headers: Sequence[tuple[str, ...]], rows: Sequence[tuple[str, ...]]) -> Published:
    """With as many columns of names, such as data set and system, in the first one as tell the rows apart."""
    text = next((at for at in range(1, len(headers[-1])) if any(number_in(row[at]) for row in rows)), 1)
    width = next((at for at in range(1, text) if len({row[:at] for row in rows}) == len(rows)), text)
    names = apart([_joined(row[:width]) for row in rows])
    return Published(
        tuple((_joined(row[:width]), *row[width:]) for row in headers),
        tuple((name, *row[width:]) for name, row in zip(names, rows, strict=True)),
    )


def apart(names: Sequence[str]) -> list[str]:
    """The names, numbered where one appears again.

    >>> from atkay.audit.layout import apart
    >>> apart(["BPR", "SAR", "BPR"])
    ['BPR', 'SAR', 'BPR (2)']
    """
    before = [names[:at].count(name) for at, name in enumerate(names)]
    return [f"{name} ({count + 1})" if count else name for name, count in zip(names, before, strict=True)]


def _joined(names: Iterable[str]) -> str:
    return ", ".join(filter(None, names))
