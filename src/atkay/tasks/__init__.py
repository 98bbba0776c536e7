"""Tasks: from a log of events to queries, truth and a protocol that fits them."""

from __future__ import annotations

from atkay.tasks import references as references
from atkay.tasks.baskets import BasketTask as BasketTask
from atkay.tasks.baskets import next_basket as next_basket
from atkay.tasks.check import Check as Check
from atkay.tasks.check import Finding as Finding
from atkay.tasks.sessions import next_item as next_item
from atkay.tasks.splits import k_folds as k_folds
from atkay.tasks.splits import leave_last_k_out as leave_last_k_out
from atkay.tasks.splits import leave_last_out as leave_last_out
from atkay.tasks.splits import random_holdout as random_holdout
from atkay.tasks.splits import split_by_time as split_by_time
from atkay.tasks.task import Task as Task
