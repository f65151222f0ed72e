"""What sheets of this program's own workbooks are called."""

LIST_SHEET = "List of cells"
"""The sheet with a row for each cell, which is read back; the one for people stands before it."""
