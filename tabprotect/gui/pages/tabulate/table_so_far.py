"""What the ticked variables make before anything is counted for good: cells, small counts, and how
many there would be with one variable more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QFrame

from tabprotect.engine.progress import Progress
from tabprotect.engine.project.sources import records_file
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.table import Table
from tabprotect.gui.look.label import Label, heading
from tabprotect.gui.look.layouts import in_column, in_row
from tabprotect.gui.look.roles import dress
from tabprotect.gui.look.theme import GRID, THEME, count_text
from tabprotect.languages.said import say
from tabprotect.languages.speaking import told

if TYPE_CHECKING:
    from tabprotect.engine.microdata.tabulate import ColumnSummary

MOST_RECORDS = 1_000_000
"""Records up to which all are counted by every variable at once."""

MOST_VARIABLES = 14
"""Variables that are counted at once."""

RULE = SmallCount()


@dataclass(frozen=True)
class Counted:
    """A table of some variables. Confidential.

    Attributes
    ----------
    cells, filled, small, ones
        Its cells, those with anybody in them, with a small count, with one person.
    """

    cells: int
    filled: int
    small: int
    ones: int

    @classmethod
    def of(cls, joint: Table, names: Sequence[str]) -> Counted:
        """The table of these variables, out of one of more."""
        table = joint.margin(list(names))
        counts = table.cells[1]
        filled = int((counts > 0).sum())
        size = int(np.prod([float(n) for n in table.domain.shape]))
        return cls(size, filled, int(RULE.mask(counts).sum()), int((counts == 1).sum()))


def counted_by(columns: Sequence[ColumnSummary], most: int) -> tuple[str, ...]:
    """The variables that classify; none where the records are too many to be counted ahead."""
    if not columns or columns[0].records > MOST_RECORDS:
        return ()
    found = [c.name for c in columns if 1 < c.categories <= most]
    return tuple(found[:MOST_VARIABLES])


def count_all(source: str, names: Sequence[str], progress: Progress) -> Table:
    """One pass over the records, by all variables at once."""
    from tabprotect.engine.microdata.tabulate import tabulate_with_keys

    return tabulate_with_keys(records_file(source), names, wide=True, progress=progress).table


def if_ticked(
    joint: Table, chosen: Sequence[str], names: Sequence[str], progress: Progress
) -> dict[str, Counted]:
    """The table so far, under the empty name, and with each of the others beside it."""
    out = {"": Counted.of(joint, chosen)} if chosen else {}
    for number, name in enumerate(names):
        progress.report(say("counting small counts"), number / len(names))
        if name not in chosen:
            out[name] = Counted.of(joint, [*chosen, name])
    return out


class TableSoFar(QFrame):
    """Three figures of the table that the ticks make."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(told(say("The table so far")))
        dress(self, "card")
        self._figures = [Label(role="figure") for _ in range(3)]
        self._names = [Label(wordWrap=True, role="quiet") for _ in range(3)]
        figures = in_row(
            *(
                (in_column(figure, name, spacing=0), 1)
                for figure, name in zip(self._figures, self._names, strict=True)
            ),
            spacing=2 * GRID,
        )
        self._note = Label(wordWrap=True, role="quiet", name=say("Where the figures come from"))
        in_column(
            heading(say("The table so far")), figures, self._note, 1, on=self, margins=2 * GRID
        )
        THEME.follow(self, TableSoFar._paint)
        self.show_counted(None, say("Tick a variable: here stands what the table would hold."))

    def show_counted(self, found: Counted | None, note: str = "") -> None:
        """Show the figures, or what is to be done to see them."""
        texts = ("", "", "") if found is None else (found.cells, found.small, found.ones)
        empty = "" if found is None else count_text(found.cells - found.filled)
        names = (
            say("cells, {empty} empty", empty),
            say("small counts (1 or 2)"),
            say("persons alone in a cell"),
        )
        for figure, value in zip(self._figures, texts, strict=True):
            figure.setText(count_text(value) if isinstance(value, int) else "")
        for label, name in zip(self._names, names, strict=True):
            label.setText("" if found is None else told(name))
        self._note.setText(told(note))
        self._paint()

    def _paint(self) -> None:
        self._figures[1].setStyleSheet(f"color: {THEME.colours.at_risk};")
