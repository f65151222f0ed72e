"""What the table page says of its table in one sentence, and of the rule that makes cells risky."""

from __future__ import annotations

from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.engine.tables.table import Table
from tabprotect.gui.base.document import Document
from tabprotect.gui.look.theme import count_text
from tabprotect.languages.said import joined, plural, say


def table_words(document: Document, table: Table) -> tuple[str, str]:
    """The sentence and the legend."""
    cells = table.domain.size
    zeros = cells - len(table.cells[0])
    shape = joined(map(str, table.domain.shape), " \u00d7 ")
    words = say(
        "{total} counted in {cells} cells ({shape}), {zeros} of them zero",
        count_text(table.total),
        count_text(cells),
        shape,
        count_text(zeros),
    )
    project = document.project
    assert project is not None
    if document.public:
        hidden = document.suppressed
        said = say("every kept sum is exact")
        if hidden is not None:
            words = say("{cells} cells ({shape})", count_text(cells), shape)
            said = say("{sum} of them are hidden (x)", count_text(int(hidden.sum())))
        elif not project.takes_cycles:
            said = say("the method's page says what is exact")
        return say("What a reader sees: {words}; {said}.", words, said), ""
    risk = document.at_risk_cells
    rule = say("a count of {words}", project.at_risk.words)
    return (
        plural(
            risk,
            "{words}; {risk} small count ({rule}).",
            "{words}; {risk} small counts ({rule}).",
            words,
            count_text(risk),
            rule,
        ),
        say("● small: {rule}.  F8 goes to the next one.", rule),
    )


MOST_READ = 100_000
"""Cells among which one is looked for by what it is called."""


def cell_called(domain: Domain, text: str) -> Index | None:
    """The cell that an error names."""
    keys = range(domain.size if domain.size <= MOST_READ else 0)
    cells = map(domain.unflat, keys)
    return next((index for index in cells if domain.cell_text(index) == text), None)


def empty_words(document: Document) -> str:
    """Why a reader sees no table."""
    if document.release is not None:
        return say(
            "The inner cells are not published.\nThe step under Protect shows the tables that are."
        )
    return say(
        "A reader sees nothing yet: the table has not been protected.\n"
        "Press F9 to see the original again, and go on to Protect."
    )
