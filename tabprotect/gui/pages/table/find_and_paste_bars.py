"""Bars that come and go above the table: find or go to, and the preview of a paste."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QFrame, QLineEdit, QPushButton

from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.table_verbs import pasted
from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.engine.tables.table import Table
from tabprotect.gui.grid.clipboard import read_block
from tabprotect.gui.grid.layout import Layout
from tabprotect.gui.look.buttons import named, push_button, tool_button
from tabprotect.gui.look.drawn import icons
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import filled, in_row
from tabprotect.gui.look.roles import dress
from tabprotect.gui.look.theme import GRID, THEME, count_text
from tabprotect.languages.messages import joined, message, plural
from tabprotect.languages.translation import tr, translate

SHOWN_CHANGES = 4


class Bar(QFrame):
    """A raised strip that Escape closes."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(translate(name))
        self.row = in_row(on=self, margins=(GRID, 4, GRID, 4), spacing=GRID)
        THEME.follow(self, Bar.take_colours)
        self.take_colours()
        self.hide()

    def take_colours(self) -> None:
        """The theme's colours."""
        c = THEME.colours
        self.setStyleSheet(
            f"Bar, PasteBar, FindBar {{ background: {c.raised}; border: 1px solid {c.border};"
            " border-radius: 4px; }"
        )

    def leave(self) -> None:
        """Leave as Escape does."""
        self.hide()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
            return
        super().keyPressEvent(event)


class PasteBar(Bar):
    """A bar that says what a paste will change, before it does."""

    accepted = Signal()
    rejected = Signal()

    def __init__(self) -> None:
        super().__init__(message("Preview of the paste"))
        self._words = Label(wordWrap=True)
        self.accept = named(QPushButton(tr("Paste")), message("Paste the block"), clicked=self.accepted)
        dress(self.accept, "main")
        self.cancel = push_button(message("Cancel"), self.rejected, name=message("Do not paste"))
        filled(self.row, (self._words, 1), self.cancel, self.accept)

    @property
    def words(self) -> str:
        """Say what it says."""
        return self._words.text()

    def show_changes(self, lead: str, changes: Sequence[tuple[str, int, int]]) -> None:
        """Say how many cells change and the first few of them, as (cell, before, after)."""
        if not changes:
            self._words.setText(tr("{lead}no cell would change.", lead))
        else:
            first = joined(
                (
                    message("{cell} {before} \u2192 {after}", cell, count_text(before), count_text(after))
                    for cell, before, after in changes[:SHOWN_CHANGES]
                ),
                ", ",
            )
            more = len(changes) - SHOWN_CHANGES
            rest = message(" and {more} more", count_text(more)) if more > 0 else ""
            self._words.setText(
                translate(
                    plural(
                        len(changes),
                        "{lead}{changes} cell changes: {first}{rest}.",
                        "{lead}{changes} cells change: {first}{rest}.",
                        lead,
                        count_text(len(changes)),
                        first,
                        rest,
                    )
                )
            )
        self.accept.setEnabled(bool(changes))
        self.show()
        (self.accept if changes else self.cancel).setFocus()

    def forget(self) -> None:
        """Go away with every count."""
        self._words.clear()
        self.hide()

    def leave(self) -> None:
        self.rejected.emit()


class FindBar(Bar):
    """Labels (``v1, w2``, or parts of them) or a count (``= 3``); Return goes to the next."""

    found = Signal(object)
    closed = Signal()

    def __init__(self) -> None:
        super().__init__(message("Find"))
        self._table: Table | None = None
        self._from: Index | None = None
        self._edit = named(
            QLineEdit(
                placeholderText=tr("labels such as v1, w2 \u2013 or a count such as = 3"),
                clearButtonEnabled=True,
            ),
            message("Labels or count to find"),
            returnPressed=self.next,
        )
        self._result = Label(role="quiet", name=message("Result of the search"))
        close = tool_button(
            icons.icon("close"),
            self.leave,
            flat=True,
            name=message("Close the search"),
            tip=message("Close (Esc)"),
        )
        filled(self.row, (self._edit, 1), self._result, close)

    def show_table(self, table: Table) -> None:
        """Set what is searched."""
        self._table = table

    def open(self, start: Index | None) -> None:
        """Come up, to search on from a cell."""
        self._from = start
        self.show()
        self._edit.selectAll()
        self._edit.setFocus()

    def leave(self) -> None:
        self.hide()
        self.closed.emit()

    @property
    def result(self) -> str:
        """Say what it says about the last search."""
        return self._result.text()

    def next(self) -> None:
        """Go to the next match after the last one, round and round."""
        if self._table is None or not self._edit.text().strip():
            return
        if (index := find(self._table, self._edit.text(), self._from)) is None:
            self._result.setText(tr("not found"))
            return
        self._result.setText(translate(self._table.domain.cell_text(index)))
        self._from = index
        self.found.emit(index)


def find(table: Table, text: str, after: Index | None) -> Index | None:
    """The next cell after ``after`` whose count (``= 3``) or labels match.

    Labels are given in any order, separated by commas or blanks; each must be, begin, or be part
    of a category of another variable. Variables that are not named stay as in ``after``.
    """
    domain = table.domain
    bare = text.strip()
    if bare.startswith("="):
        try:
            wanted = int(bare[1:].strip())
        except ValueError:
            return None
        keys = np.flatnonzero(table.counts.reshape(-1) == wanted)
        if not len(keys):
            return None
        at = int(np.searchsorted(keys, -1 if after is None else domain.flat(after), side="right"))
        return domain.unflat(int(keys[at % len(keys)]))
    base = after if after is not None else (0,) * domain.ndim
    for words in ([w.strip() for w in bare.split(",") if w.strip()], bare.replace(",", " ").split()):
        if matches := list(islice(_matches(domain, words, base), 10_000)):
            later = [m for m in matches if after is not None and m > after]
            return later[0] if later else matches[0]
    return None


def _matches(domain: Domain, words: Sequence[str], base: Index) -> Iterator[Index]:
    """Cells with a category for every word, exact names before parts of names."""
    if not words or len(words) > domain.ndim:
        return
    options: list[dict[int, list[int]]] = []
    for word in words:
        lower = word.casefold()
        exact = {
            a: [i for i, c in enumerate(v.categories) if c.casefold() == lower]
            for a, v in enumerate(domain.variables)
        }
        if not any(exact.values()):
            exact = {
                a: [i for i, c in enumerate(v.categories) if lower in c.casefold()]
                for a, v in enumerate(domain.variables)
            }
        options.append({a: codes for a, codes in exact.items() if codes})

    def assign(number: int, taken: dict[int, int]) -> Iterator[dict[int, int]]:
        if number == len(words):
            yield taken
            return
        for axis, codes in options[number].items():
            if axis not in taken:
                for code in codes:
                    yield from assign(number + 1, taken | {axis: code})

    for chosen in assign(0, {}):
        yield tuple(chosen.get(a, i) for a, i in enumerate(base))


@dataclass(frozen=True)
class Pending:
    """A block that waits to be pasted.

    Attributes
    ----------
    at, counts
        Where it begins, and its lines.
    changes
        The count that each cell would get.
    """

    at: Index
    counts: list[list[int]]
    changes: Mapping[Index, int]


def from_clipboard(project: Project, at: Index) -> Pending:
    """The clipboard's block at a cell.

    Raises
    ------
    InputError
        For text that is no block of counts, or one that does not fit.
    """
    names = [c for v in project.domain.variables for c in v.categories]
    counts = read_block(QGuiApplication.clipboard().text(), headers=names)
    return Pending(at, counts, pasted(project, at=at, counts=counts))


def changed_cells(layout: Layout, original: Table, changes: Mapping[Index, int]) -> npt.NDArray[np.uint8]:
    """1 for every shown cell that would change."""
    ground = np.zeros(layout.shape, dtype=np.uint8)
    for index, count in changes.items():
        if (at := layout.position(index)) is not None and original[index] != count:
            ground[at] = 1
    return ground
