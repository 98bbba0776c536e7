"""Judged: what formulas read. NumPy and nothing else."""
