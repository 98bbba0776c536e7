"""Dialects: what other libraries compute under the same names, in our words. One table per library."""
