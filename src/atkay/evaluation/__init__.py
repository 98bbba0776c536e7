"""Evaluation: from a request to a result."""
