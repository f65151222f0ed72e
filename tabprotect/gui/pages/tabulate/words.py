"""What a column of records is, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tabprotect.languages.messages import message

if TYPE_CHECKING:
    from tabprotect.engine.microdata.tabulate import ColumnSummary

MOST_CATEGORIES = 1000
"""Categories of a variable that classifies: more are mostly numbers of records, or measurements."""

KINDS = {"integer": message("numbers"), "real": message("numbers"), "text": message("names or codes")}


def unfit(column: ColumnSummary) -> str:
    """Say why a column is no variable; empty where it may be one."""
    if column.categories >= 0.9 * max(column.records, 1) > 1:
        return message("one for each row: no variable")
    if column.categories > MOST_CATEGORIES:
        return message("to be added up, or grouped first")
    return ""
