"""Variables and levels to choose by clicks, where a sub-table is meant."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QToolButton, QWidget

from tabprotect.engine.tables.variable import level_said
from tabprotect.gui.look.buttons import connected, emptied, tool_button
from tabprotect.gui.look.layouts import FlowLayout
from tabprotect.gui.look.theme import GRID


class NamePicks(QWidget):
    """A button for each name; ``changed`` when others are chosen."""

    changed = Signal()

    def __init__(self, spoken: Callable[[str], str]) -> None:
        """``spoken`` says for a screen reader what picking a name means."""
        super().__init__()
        self._spoken = spoken
        self.names: dict[str, QToolButton] = {}
        self._row = FlowLayout(self, gap=GRID // 2)

    @property
    def chosen(self) -> list[str]:
        """The names that are picked, in the order in which they are offered."""
        return [name for name, button in self.names.items() if button.isChecked()]

    def offer(self, names: Sequence[str]) -> None:
        """Show what there is; what is picked stays where the names are the same."""
        if list(self.names) == list(names):
            return
        emptied(self._row)
        self.names = {}
        for name in names:
            button = connected(
                tool_button(
                    level_said(name),
                    checkable=True,
                    name=self._spoken(level_said(name)),
                    focus=Qt.FocusPolicy.StrongFocus,
                ),
                toggled=lambda _: self.changed.emit(),
            )
            self.names[name] = button
            self._row.addWidget(button)

    def choose(self, names: Collection[str], *, quietly: bool = False) -> None:
        """Pick these names and no others; ``quietly`` without saying that others are chosen."""
        before = self.blockSignals(quietly)
        for name, button in self.names.items():
            button.setChecked(name in names)
        self.blockSignals(before)
