"""Full ranking: every item ranked for every user."""

from atkay.errors import need

need("full_ranking", "torch", "torch")
