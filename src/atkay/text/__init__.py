"""Text: what is printed and written."""
