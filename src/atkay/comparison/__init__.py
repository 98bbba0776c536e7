"""Compare: runs side by side, and whether their differences are significant."""
