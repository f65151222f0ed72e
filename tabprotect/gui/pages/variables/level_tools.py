"""What can be done with the categories that are shown, and with the levels that there are."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QToolButton, QWidget

from tabprotect.gui.look.buttons import choice, push_button, tool_button
from tabprotect.gui.look.drawn import icons
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column, in_row, set_enabled, set_visible
from tabprotect.gui.look.theme import GRID, THEME
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import translate


class OrderTools(QWidget):
    """Buttons that add a category, take an empty one away, and move and merge what is selected."""

    moved = Signal(int)
    merged = Signal()
    added = Signal()
    removed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.buttons: dict[str, QToolButton] = {}
        for picture, words, run in (
            ("up", message("Move up"), lambda: self.moved.emit(-1)),
            ("down", message("Move down"), lambda: self.moved.emit(1)),
            ("remove", message("Remove the empty category"), self.removed.emit),
            ("add", message("Add a category"), self.added.emit),
        ):
            button = self.buttons[picture] = tool_button(
                run=lambda _=False, r=run: r(), name=words, tip=words
            )
            button.setIconSize(QSize(16, 16))
        self.merge = push_button(
            message("Merge"),
            self.merged,
            name=message("Merge the selected categories"),
            tip=message("Counts them as one category from here on; a group keeps them apart."),
        )
        in_row(*self.buttons.values(), self.merge, on=self, margins=0, spacing=GRID // 2)
        THEME.follow(self, OrderTools._repaint)
        self._repaint()

    def show_selected(self, number: int, *, alone: bool) -> None:
        """Show how many categories are selected, and whether ``alone`` one line of the tree is."""
        set_enabled(alone, *(self.buttons[name] for name in ("up", "down", "remove")))
        self.merge.setEnabled(number > 1)

    def _repaint(self) -> None:
        for picture, button in self.buttons.items():
            button.setIcon(icons.icon(picture))


class LevelTools(QWidget):
    """The levels there are, and variables that nest; the signals carry a level, or the variables."""

    removed = Signal(str)
    taken = Signal(str)
    nested = Signal(list)

    def __init__(self) -> None:
        super().__init__()
        self.level = choice(message("A level of the variable"))
        self.take_button = push_button(
            message("Count at this level"),
            lambda: self.taken.emit(self.level.currentText()),
            tip=message("The categories become these groups; coarser levels stay."),
        )
        self.remove_button = push_button(
            message("Remove"),
            lambda: self.removed.emit(self.level.currentText()),
            name=message("Remove this level"),
        )
        self.nest = Label(wordWrap=True, name=message("Variables that nest"))
        self.nest_button = push_button(
            message("Make them one variable"), lambda: self.nested.emit(self._chain)
        )
        self._chain: list[str] = []
        self._levels = Label(message("Level"), role="quiet")
        in_column(
            in_row((self.nest, 1), self.nest_button, margins=0, spacing=GRID),
            in_row(
                self._levels, (self.level, 1), self.take_button, self.remove_button, margins=0, spacing=GRID
            ),
            on=self,
            margins=0,
            spacing=GRID,
        )
        self.show_levels([], [])

    def show_levels(self, coarser: list[str], chain: list[str]) -> None:
        """Offer the levels there are, and variables that nest."""
        before = self.level.currentText()
        self.level.clear()
        self.level.addItems(coarser)
        self.level.setCurrentText(before)
        set_visible(bool(coarser), self._levels, self.level, self.take_button, self.remove_button)
        self._chain = chain
        self.nest.setText(translate(message("{chain} nest.", joined(chain, ", ")) if chain else ""))
        set_visible(bool(chain), self.nest, self.nest_button)
        self.setVisible(bool(coarser or chain))
