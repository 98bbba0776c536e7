"""Formats of files, one entry of FORMATS each."""
