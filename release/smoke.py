"""Smoke: an installed atkay, in an environment with nothing else; prints which kernels run and some numbers as JSON.

``python -I release/smoke.py compiled`` fails where the compiled kernels do not run, ``reference`` where they do.
"""

from __future__ import annotations

import json
import math
import sys
import warnings

import numpy as np
import polars as pl

import atkay

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")

    # One list of three items, the first and the third of which are relevant, of two.
    result = atkay.evaluate({"ann": ["tea", "milk", "rye"]}, {"ann": ["tea", "rye"]}, ["ndcg@3", "map@3", "mrr"])
    assert math.isclose(result["ndcg@3"], (1 + 1 / math.log2(4)) / (1 + 1 / math.log2(3)))
    assert math.isclose(result["map@3"], (1 / 1 + 2 / 3) / 2)
    assert result["mrr"] == 1

    # 100,000 users with the items 0 to 9, best first, and in any order: user u wants item u % 10, at rank u % 10 + 1.
    user, item = np.repeat(np.arange(100_000), 10), np.tile(np.arange(10), 100_000)
    order = np.random.default_rng(0).permutation(len(user))
    recs = pl.DataFrame({"user": user[order], "item": item[order], "score": -item[order] / 7})
    truth = pl.DataFrame({"user": np.arange(100_000), "item": np.arange(100_000) % 10})
    result = atkay.evaluate(recs, truth, ["hit@3", "mrr"])
    assert math.isclose(result["hit@3"], 3 / 10)
    assert math.isclose(result["mrr"], sum(1 / rank for rank in range(1, 11)) / 10)

from atkay.core import kernels  # what has run above

module = {"compiled": "atkay.core.native.kernels", "reference": "atkay.core.reference"}[sys.argv[1]]
assert kernels.match.__module__ == module
slower = [warning for warning in caught if warning.category is atkay.errors.SpeedWarning]
assert len(slower) == (sys.argv[1] == "reference"), slower
print(json.dumps({"numbers": result.to_dict(), "fingerprint": dict(result.fingerprint)}))
