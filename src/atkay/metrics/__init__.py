"""A formula per metric: Judged -> one value per query and cutoff. NumPy and nothing else."""
