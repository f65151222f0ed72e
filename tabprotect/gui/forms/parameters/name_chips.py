"""Tables put together by clicks, for fields that hold a formula: nobody has to write one."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import combinations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QGridLayout,
    QMenu,
    QPushButton,
    QToolButton,
    QWidget,
    QWidgetAction,
)

from tabprotect.engine.tables.variable import level_said, spoken
from tabprotect.gui.forms.parameters.name_picks import NamePicks
from tabprotect.gui.look.buttons import Inside, Scrolling, connected, emptied, named, silent, tool_button
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import FlowLayout, held, in_column, in_row, set_visible
from tabprotect.gui.look.theme import GRID
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr

ROOM = 9 * GRID
"""Pixels of height for what was chosen: two rows, then it scrolls."""

_WORD = re.compile(r"[\w.@]+")


class NameChips(QWidget):
    """Names to choose, and what was made of them. ``changed`` carries the text that says so.

    Parameters
    ----------
    together
        What stands between the names of one entry; nothing where an entry is one name.
    between
        What stands between entries.
    quoted
        Whether a name that is no word stands in backticks, as in a formula.
    terms
        Whether the entries are terms of a model, not tables that are published.
    """

    changed = Signal(str)

    def __init__(self, together: str, between: str, *, quoted: bool = True, terms: bool = False) -> None:
        super().__init__()
        self._quoted = quoted
        self._together, self._between = together, between
        self.picks = connected(
            NamePicks(
                lambda name: message("Together: {name}", name) if together else message("Take: {name}", name)
            ),
            changed=self._toggled,
        )
        self.entries: list[QToolButton] = []
        self._text = ""
        self._chosen = Inside()
        self._row = FlowLayout(self._chosen, gap=GRID // 2)
        # The same room for none, for one and for many: what is clicked next stays where it is.
        self._room = named(Scrolling(), focus=Qt.FocusPolicy.NoFocus)
        self._room.setWidget(self._chosen)
        self._room.setFrameShape(QFrame.Shape.StyledPanel)
        self._row.setContentsMargins(4, 4, 4, 4)
        self._room.setFixedHeight(ROOM)
        self.add = tool_button(message("Add this table"), self._added, focus=Qt.FocusPolicy.StrongFocus)
        words = message("A table: choose its variables or levels") if together else message("Choose levels")
        if terms:
            words = message("What goes together: choose variables")
            self.add.setText(tr("Add this term"))
        self._words = Label(words, role="quiet", wordWrap=True)
        self.pairs = connected(PairPicker(), picked=self._paired)
        adding = held(in_row(self.add, self.pairs, 1, margins=0, spacing=GRID // 2))
        in_column(self._room, self._words, self.picks, adding, on=self, margins=0, spacing=GRID // 2)
        set_visible(bool(together), adding, self._room)
        self.pairs.setVisible(not terms)

    def _written(self, name: str) -> str:
        return name if not self._quoted or _WORD.fullmatch(name) else f"`{name}`"

    @property
    def names(self) -> dict[str, QToolButton]:
        """The button of each name."""
        return self.picks.names

    def offer(self, names: Sequence[str]) -> None:
        """Show what there is to choose among."""
        if list(self.names) != list(names):
            self.picks.offer(names)
            self.show_text(self._text)

    def show_text(self, text: str) -> None:
        """Show what a text says as entries that can be let go one by one."""
        self._text = text
        found = self._parts()
        emptied(self._row)
        self.entries = []
        if self._together:
            for number, part in enumerate(found):
                words = self._words_of(part)
                chip = tool_button(
                    message("{part}  \u2715", words),
                    lambda _=False, n=number: self._let_go(n),
                    tip=message("Let it go"),
                    name=message("Chosen: {part}. Let it go", words),
                    focus=Qt.FocusPolicy.StrongFocus,
                )
                self.entries.append(chip)
                self._row.addWidget(chip)
            if not found:
                self._row.addWidget(Label(message("nothing chosen yet"), role="quiet"))
        else:
            taken = [name for name in self.names if self._written(name) in found]
            self.picks.choose(taken, quietly=True)
        self.pairs.offer(list(self.names), self._pairs())
        self.add.setEnabled(False)

    def _parts(self) -> list[str]:
        # What somebody wrote with brackets is one entry: it is shown, not taken apart.
        whole = bool(self._together) and "(" in self._text
        parts = [self._text] if whole else self._text.split(self._between.strip())
        return [part.strip() for part in parts if part.strip()]

    def _words_of(self, part: str) -> str:
        """An entry as people say it; what is more than names and a sign between, as it is typed."""
        alone = part.endswith(" - 1")
        sign = ":" if alone else self._together
        names = [name.strip().strip("`") for name in part.removesuffix(" - 1").split(sign)]
        if not all(name in self.names for name in names):
            return part
        table = spoken(names)
        return message("{table} without totals", table) if alone else table

    def _say(self, parts: Sequence[str]) -> None:
        self.show_text(self._between.join(parts))
        self.changed.emit(self._text)

    def _wanted(self) -> list[str]:
        return [self._written(name) for name in self.picks.chosen]

    def _toggled(self) -> None:
        if self._together:
            self.add.setEnabled(bool(self._wanted()))
        else:
            written = {self._written(name) for name in self.names}
            self._say([*(part for part in self._parts() if part not in written), *self._wanted()])

    def _added(self) -> None:
        made = self._together.join(self._wanted())
        self.picks.choose(())
        self._say([*self._parts(), made] if made not in self._parts() else self._parts())

    def _pairs(self) -> dict[Pair, str]:
        """Each pair of names that is an entry, with the entry."""
        parts = set(self._parts())
        made = {pair: self._together.join(map(self._written, pair)) for pair in combinations(self.names, 2)}
        return {pair: entry for pair, entry in made.items() if entry in parts}

    def _paired(self, first: str, second: str, wanted: bool) -> None:
        entry = self._together.join(map(self._written, (first, second)))
        others = [part for part in self._parts() if part != entry]
        self._say([*others, entry] if wanted else others)

    def _let_go(self, number: int) -> None:
        self._say([part for n, part in enumerate(self._parts()) if n != number])
        # Who works by keys goes on where the entry was.
        left = self.entries or list(self.names.values())
        if left:
            left[min(number, len(left) - 1)].setFocus(Qt.FocusReason.OtherFocusReason)


MOST_NAMES = 14
"""More names would leave the screen."""

Pair = tuple[str, str]


class PairPicker(QPushButton):
    """Names against names; ``picked`` carries a pair, in their order, and whether it is wanted."""

    picked = Signal(str, str, bool)

    def __init__(self) -> None:
        super().__init__()
        self.setText(tr("Tables of two\u2026"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setToolTip(tr("Tick any number of tables of two variables, each at one click"))
        self.boxes: dict[Pair, QCheckBox] = {}
        self._names: Sequence[str] = ()
        self._chosen: Collection[Pair] = ()
        self._action: QWidgetAction | None = None
        menu = named(QMenu(self), message("Tables of two variables"), aboutToShow=self._build)
        self.setMenu(menu)

    def offer(self, names: Sequence[str], chosen: Collection[Pair]) -> None:
        """Offer what there is to put together; pairs that are wanted already are marked."""
        rebuilt = list(names) != list(self._names)
        self._names, self._chosen = names, chosen
        self.setEnabled(1 < len(names) <= MOST_NAMES)
        if rebuilt:
            self.boxes = {}
        for pair, box in self.boxes.items():
            with silent(box):
                box.setChecked(pair in chosen)

    def _build(self) -> None:
        """The boxes, once somebody looks at them."""
        if self.boxes:
            return
        if self._action is not None:
            self.menu().removeAction(self._action)
        panel = QWidget()
        grid = QGridLayout(panel)
        grid.setSpacing(GRID)
        # A level and its variable are no table of two.
        pairs = [
            (first, second)
            for first, second in combinations(self._names, 2)
            if first.partition("@")[0] != second.partition("@")[0]
        ]
        columns = list(dict.fromkeys(first for first, _ in pairs))
        rows = [name for name in self._names if name in {second for _, second in pairs}]
        for place, name in enumerate(columns, 1):
            grid.addWidget(Label(spoken((name,))), 0, place, Qt.AlignmentFlag.AlignHCenter)
        for place, name in enumerate(rows, 1):
            grid.addWidget(Label(level_said(name)), place, 0)
        for first, second in pairs:
            box = named(
                QCheckBox(),
                message("{first} by {second}", first, second),
                tip=message("{first} by {second}", first, second),
            )
            box.setChecked((first, second) in self._chosen)
            box.toggled.connect(lambda on, one=first, other=second: self.picked.emit(one, other, on))
            row, column = rows.index(second) + 1, columns.index(first) + 1
            grid.addWidget(box, row, column, Qt.AlignmentFlag.AlignHCenter)
            self.boxes[first, second] = box
        self._action = QWidgetAction(self)
        self._action.setDefaultWidget(panel)
        self.menu().addAction(self._action)
