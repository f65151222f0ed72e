"""What the table page says of its table in one sentence, and of the rule that makes cells risky."""

from __future__ import annotations

from collections.abc import Iterator

from tabprotect.engine.formats.layouts.table_forms import LEFT_OUT
from tabprotect.engine.project.project import Project
from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.engine.tables.table import Table
from tabprotect.gui.base.document import Document
from tabprotect.gui.look.buttons import present
from tabprotect.gui.look.theme import count_text
from tabprotect.languages.messages import Message, joined, message, plural


def table_words(document: Document, table: Table) -> tuple[str, str]:
    """The sentence and the legend."""
    cells = table.domain.size
    zeros = cells - len(table.cells[0])
    shape = joined(map(str, table.domain.shape), " \u00d7 ")
    words = message(
        "{total} counted in {cells} cells ({shape}), {zeros} of them zero",
        count_text(table.total),
        count_text(cells),
        shape,
        count_text(zeros),
    )
    project = present(document.project)
    if document.public:
        hidden = document.suppressed
        said = message("every kept sum is exact")
        if hidden is not None:
            words = message("{cells} cells ({shape})", count_text(cells), shape)
            said = message("{sum} of them are hidden (x)", count_text(int(hidden.sum())))
        elif not project.takes_cycles:
            said = message("the method's page says what is exact")
        return message("What a reader sees: {words}; {said}.", words, said), ""
    risk = document.at_risk_cells
    rule = message("a count of {words}", project.at_risk.words)
    return (
        plural(
            risk,
            "{words}; {risk} small count ({rule}).",
            "{words}; {risk} small counts ({rule}).",
            words,
            count_text(risk),
            rule,
        ),
        joined(
            filter(None, (message("● small: {rule}.  F8 goes to the next one.", rule), left_out_of(project))),
            "  ",
        ),
    )


def left_out_of(project: Project) -> str:
    """Say which columns of its file a table was read without, and how to have them; else empty."""
    said = [part for note in project.notes for part in _parts(note)]
    out = [str(of.values["value"]) for of in said if of.values.get("option") == "drop"]
    out += [str(of.values["names"]) for of in said if of.template == str(LEFT_OUT)]
    return (
        message("Not read, as it holds percentages: {names} (File > Open with choices).", joined(out, ", "))
        if out
        else ""
    )


def _parts(text: object) -> Iterator[Message]:
    """A said text, and what was put into it."""
    if isinstance(text, Message):
        yield text
        for value in text.values.values():
            yield from _parts(value)


MOST_READ = 100_000
"""Cells among which one is looked for by what it is called."""


def cell_called(domain: Domain, text: str) -> Index | None:
    """The cell that an error names."""
    cells = map(domain.unflat, range(domain.size if domain.size <= MOST_READ else 0))
    return next((index for index in cells if domain.cell_text(index) == text), None)


def empty_words(document: Document) -> str:
    """Say why a reader sees no table."""
    if document.release is not None:
        return message(
            "The inner cells are not published.\nThe step under Protect shows the tables that are."
        )
    return message(
        "A reader sees nothing yet: the table has not been protected.\n"
        "Press F9 to see the original again, and go on to Protect."
    )
