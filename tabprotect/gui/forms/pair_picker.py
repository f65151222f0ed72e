"""Every table of two variables at one click: a triangle of boxes behind a button."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QMenu, QPushButton, QWidget, QWidgetAction

from tabprotect.gui.look.label import Label
from tabprotect.gui.look.theme import GRID

MOST_NAMES = 14
"""More names would leave the screen."""

Pair = tuple[str, str]


class PairPicker(QPushButton):
    """Names against names; ``picked`` carries a pair, in their order, and whether it is wanted."""

    picked = Signal(str, str, bool)

    def __init__(self) -> None:
        super().__init__()
        self.setText("Tables of two\u2026")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setToolTip("Tick any number of tables of two variables, each at one click")
        self.boxes: dict[Pair, QCheckBox] = {}
        self._names: Sequence[str] = ()
        self._chosen: Collection[Pair] = ()
        self._action: QWidgetAction | None = None
        menu = QMenu(self)
        menu.setAccessibleName("Tables of two variables")
        menu.aboutToShow.connect(self._build)
        self.setMenu(menu)

    def offer(self, names: Sequence[str], chosen: Collection[Pair]) -> None:
        """What there is to put together, and which pairs are wanted already."""
        rebuilt = list(names) != list(self._names)
        self._names, self._chosen = names, chosen
        self.setEnabled(1 < len(names) <= MOST_NAMES)
        if rebuilt:
            self.boxes = {}
        for pair, box in self.boxes.items():
            box.blockSignals(True)
            box.setChecked(pair in chosen)
            box.blockSignals(False)

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
            grid.addWidget(Label(name), 0, place, Qt.AlignmentFlag.AlignHCenter)
        for place, name in enumerate(rows, 1):
            grid.addWidget(Label(name), place, 0)
        for first, second in pairs:
            box = QCheckBox()
            box.setAccessibleName(f"{first} by {second}")
            box.setToolTip(f"{first} by {second}")
            box.setChecked((first, second) in self._chosen)
            box.toggled.connect(
                lambda on, one=first, other=second: self.picked.emit(one, other, on)
            )
            row, column = rows.index(second) + 1, columns.index(first) + 1
            grid.addWidget(box, row, column, Qt.AlignmentFlag.AlignHCenter)
            self.boxes[first, second] = box
        self._action = QWidgetAction(self)
        self._action.setDefaultWidget(panel)
        self.menu().addAction(self._action)
