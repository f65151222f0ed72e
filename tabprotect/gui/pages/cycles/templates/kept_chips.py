"""Kept margins as chips: click one to let it go, put names together to keep another."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QToolButton, QWidget

from tabprotect.engine.tables.margins import MarginSet
from tabprotect.engine.tables.variable import spoken
from tabprotect.gui.forms.parameters.name_picks import NamePicks
from tabprotect.gui.look.buttons import connected, emptied, push_button, tool_button
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column, in_grid, in_row
from tabprotect.gui.look.theme import GRID
from tabprotect.languages.messages import message

LONG = 16
"""Characters of a margin from which on each stands in a row of its own."""


class KeptChips(QWidget):
    """The margins that are kept. ``changed`` when one was added or let go."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.margins: MarginSet = ()
        self.chips: dict[tuple[str, ...], QToolButton] = {}
        self.picks = connected(NamePicks(lambda name: message("Together: {name}", name)), changed=self._offer)
        self._chips = in_grid(across=GRID // 2, down=GRID // 2)
        self.add = push_button(message("Keep these together"), self._add)
        in_column(
            self._chips,
            Label(message("Another one: choose variables or levels"), wordWrap=True),
            self.picks,
            in_row(self.add, 1),
            on=self,
            margins=0,
            spacing=GRID // 2,
        )

    def show_margins(self, margins: MarginSet, names: Sequence[str]) -> None:
        """Show kept margins, and the variables and groupings that others are made of."""
        self.margins = margins
        self.picks.offer(names)
        self._show()

    def _show(self) -> None:
        emptied(self._chips)
        self.chips = {}
        wide = max((len(spoken(margin)) for margin in self.margins), default=0) > LONG
        for number, margin in enumerate(self.margins):
            words = spoken(margin) or message("the total")
            chip = tool_button(
                message("{words}  ✕", words),
                lambda _=False, m=margin: self._let_go(m),
                tip=message("Let this margin go"),
                name=message("Kept: {words}. Let it go", words),
                focus=Qt.FocusPolicy.StrongFocus,
            )
            self.chips[margin] = chip
            place = (number, 0) if wide else divmod(number, 2)
            self._chips.addWidget(chip, *place, Qt.AlignmentFlag.AlignLeft)
        self._offer()

    @property
    def chosen(self) -> tuple[str, ...]:
        """The names that are put together."""
        return tuple(self.picks.chosen)

    def _offer(self) -> None:
        self.add.setEnabled(bool(self.chosen) and self.chosen not in self.margins)

    def _add(self) -> None:
        self.margins = (*self.margins, self.chosen)
        self.picks.choose(())
        self._show()
        self.changed.emit()

    def _let_go(self, margin: tuple[str, ...]) -> None:
        if rest := tuple(one for one in self.margins if one != margin):
            self.margins = rest
            self._show()
            self.changed.emit()
