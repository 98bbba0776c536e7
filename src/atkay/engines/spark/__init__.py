"""Spark frames, judged in their cluster."""
