"""Full ranking: every item ranked for every user."""
