"""The report: one page that shows what was found, and how anyone can find it again."""
