"""The shell: a thin layer over the same functions, for whoever has two files and a question."""
