"""Core: arrays in, arrays out. NumPy and nothing else."""
