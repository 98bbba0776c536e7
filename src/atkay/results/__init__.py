"""Results: metrics, counts of users, and saving."""
