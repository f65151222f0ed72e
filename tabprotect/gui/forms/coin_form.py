"""The mechanism's form: coin, passes or steps, order, blocking rule, source of randomness."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QDoubleSpinBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QRadioButton,
    QScrollArea,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from tabprotect.engine.protection.cycle_runs.sequence import ORDERS
from tabprotect.engine.release.likelihood import BLOCKING_RULES
from tabprotect.gui.forms.coin_triangle import CoinTriangle
from tabprotect.gui.forms.seed_chooser import SeedChooser
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.theme import GRID, THEME, number_text

REST = 350
"""Milliseconds without a change after which a change becomes one step of the history."""

RULES = {
    "any_zero": "any zero (the default)",
    "negative": "negative",
    "none": "none",
}

ORDER_NAMES = {
    "listed": "as listed (the default)",
    "random": "random, each pass anew",
    "replacement": "drawn with replacement",
    "positive": "through positive cells",
}

MOST_STEPS = 10_000_000


class CoinForm(QScrollArea):
    """``parameters_set`` carries the changed parameters, ``seed_set`` a seed or ``None``."""

    parameters_set = Signal(object)
    seed_set = Signal(object)
    wrong = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Mechanism")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._showing = False
        self._shown: dict[str, object] = {}
        self._touched_since = False
        self._rest = QTimer(self, singleShot=True, interval=REST)
        self._rest.timeout.connect(self.flush)
        inner = QWidget()
        self.setWidget(inner)
        column = QVBoxLayout(inner)
        column.setContentsMargins(0, 0, GRID, 0)
        column.setSpacing(GRID)
        column.addLayout(self._coin())
        column.addWidget(_section("Order of the cycles"))
        column.addLayout(self._order())
        column.addWidget(_section("Blocking rule"))
        column.addLayout(self._rule())
        self.seeds = SeedChooser()
        self.seeds.seed_set.connect(self.seed_set)
        self.seeds.wrong.connect(self.wrong)
        column.addWidget(self.seeds)
        column.addStretch(1)
        THEME.changed.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        """Beside the triangle there is room for the words, however large the letters are."""
        self.setFixedWidth(26 * GRID + self.fontMetrics().horizontalAdvance("0" * 27))

    # -- building -----------------------------------------------------------------------------

    def _coin(self) -> QHBoxLayout:
        self.triangle = CoinTriangle()
        self.triangle.changed.connect(self._dragged)
        self.triangle.settled.connect(self._touched)
        self.alpha, self.beta = _share("alpha"), _share("beta")
        self.gamma = Label()
        self.gamma.setAccessibleName("gamma")
        self.passes = QSpinBox(minimum=1, maximum=100)
        self.passes.setAccessibleName("Passes")
        self.passes.setKeyboardTracking(False)
        self.bias = Label(wordWrap=True)
        self.bias.setProperty("role", "quiet")
        for box in (self.alpha, self.beta):
            box.valueChanged.connect(self._typed)
        self.passes.valueChanged.connect(lambda _: self._counted(self.passes))
        self.steps = QSpinBox(minimum=0, maximum=MOST_STEPS, specialValueText="whole passes")
        self.steps.setAccessibleName("Number of steps")
        self.steps.setToolTip("Coins in all, in place of whole passes over the list")
        self.steps.setKeyboardTracking(False)
        self.steps.valueChanged.connect(lambda _: self._counted(self.steps))
        grid = QGridLayout()
        grid.setHorizontalSpacing(GRID)
        grid.setVerticalSpacing(GRID // 2)
        rows: tuple[tuple[str, QWidget], ...] = (
            ("\u03b1 add", self.alpha),
            ("\u03b2 subtract", self.beta),
            ("\u03b3 leave", self.gamma),
            ("passes", self.passes),
            ("or steps", self.steps),
        )
        for number, (text, widget) in enumerate(rows):
            label = Label(text)
            label.setBuddy(widget)
            grid.addWidget(label, number, 0)
            grid.addWidget(widget, number, 1)
        side = QVBoxLayout()
        side.addLayout(grid)
        side.addWidget(self.bias)
        side.addStretch(1)
        row = QHBoxLayout()
        row.setSpacing(2 * GRID)
        row.addWidget(self.triangle)
        row.addLayout(side, 1)
        return row

    def _order(self) -> QVBoxLayout:
        self.order = QComboBox()
        self.order.setAccessibleName("Order of the cycles")
        for name, text in ORDER_NAMES.items():
            self.order.addItem(text, name)
        self.order_words = Label(wordWrap=True)
        self.order_words.setProperty("role", "quiet")
        self.order.currentIndexChanged.connect(self._ordered)
        column = QVBoxLayout()
        column.setSpacing(GRID // 2)
        column.addWidget(self.order)
        column.addWidget(self.order_words)
        return column

    def _rule(self) -> QVBoxLayout:
        column = QVBoxLayout()
        column.setSpacing(GRID // 2)
        self.rules: dict[str, QRadioButton] = {}
        group = QButtonGroup(self)
        for name, words in BLOCKING_RULES.items():
            button = QRadioButton(RULES[name])
            button.setAccessibleDescription(words)
            button.toggled.connect(lambda on: self._touched() if on else None)
            group.addButton(button)
            self.rules[name] = button
            column.addWidget(button)
            consequence = Label(words, wordWrap=True)
            consequence.setProperty("role", "quiet")
            consequence.setContentsMargins(3 * GRID, 0, 0, 0)
            column.addWidget(consequence)
        return column

    # -- showing ------------------------------------------------------------------------------

    def show_values(self, values: Mapping[str, object], *, seed: int | None, house: bool) -> None:
        """Show a mechanism; outside the house nothing can be changed and no seed is shown."""
        self._rest.stop()
        self._touched_since = False
        self._showing = True
        self._shown = dict(values)
        alpha, beta = cast(float, values["alpha"]), cast(float, values["beta"])
        self.alpha.setValue(alpha)
        self.beta.setValue(beta)
        self.triangle.set_values(alpha, beta)
        self.passes.setValue(cast(int, values["passes"]))
        # A release of an earlier version states neither: it had no other.
        self.steps.setValue(cast(int, values.get("n_cover", 0)))
        self.order.setCurrentIndex(self.order.findData(str(values.get("order", "listed"))))
        self.rules[str(values["blocking"])].setChecked(True)
        self._tell_order()
        self._tell_coin(alpha, beta)
        self._showing = False
        self.seeds.show_seed(seed)
        for widget in (self.triangle, self.alpha, self.beta, self.passes, self.steps, self.order):
            widget.setEnabled(house)
        for name, button in self.rules.items():
            button.setEnabled(house and (name == "any_zero" or not self._by_the_table))
        self.seeds.setVisible(house)

    @property
    def _by_the_table(self) -> bool:
        return bool(self.order.currentData() == "positive")

    def _tell_order(self) -> None:
        self.order_words.setText(ORDERS[self.order.currentData()])

    def _tell_coin(self, alpha: float, beta: float) -> None:
        gamma = max(round(1 - alpha - beta, 10), 0.0)
        self.gamma.setText(number_text(gamma))
        self.bias.setText(
            "\u03b1 = \u03b2: no drift up or down"
            if abs(alpha - beta) < 1e-9
            else "\u03b1 \u2260 \u03b2: the table drifts"
        )

    # -- changing -----------------------------------------------------------------------------

    def flush(self) -> None:
        """Hand over what was changed and not yet said."""
        self._rest.stop()
        if not self._touched_since:
            return
        self._touched_since = False
        given = {
            "alpha": round(self.alpha.value(), 4),
            "beta": round(self.beta.value(), 4),
            "passes": self.passes.value(),
            "n_cover": self.steps.value(),
            "order": self.order.currentData(),
            "blocking": next(n for n, b in self.rules.items() if b.isChecked()),
        }
        unstated = {"n_cover": 0, "order": "listed"} | self._shown
        changed = {name: value for name, value in given.items() if value != unstated.get(name)}
        if changed and self._shown:
            self.parameters_set.emit(changed)

    def _touched(self) -> None:
        if not self._showing:
            self._touched_since = True
            self._rest.start()

    def _counted(self, typed: QSpinBox) -> None:
        """Passes and a number of steps exclude each other: the other one gives way."""
        if self._showing:
            return
        self._showing = True
        if typed is self.steps and typed.value():
            self.passes.setValue(1)
        elif typed is self.passes and typed.value() > 1:
            self.steps.setValue(0)
        self._showing = False
        self._touched()

    def _ordered(self) -> None:
        if self._showing:
            return
        self._tell_order()
        if self._by_the_table:
            # What runs through positive cells is not blocked: there is no other rule to choose.
            self.rules["any_zero"].setChecked(True)
        for name, button in self.rules.items():
            button.setEnabled(name == "any_zero" or not self._by_the_table)
        self._touched()

    def _dragged(self, alpha: float, beta: float) -> None:
        self._showing = True
        self.alpha.setValue(alpha)
        self.beta.setValue(beta)
        self._tell_coin(alpha, beta)
        self._showing = False

    def _typed(self) -> None:
        if self._showing:
            return
        # The one that is not being typed gives way: together they may not exceed 1.
        first, second = self.alpha, self.beta
        if self.sender() is self.beta:
            first, second = second, first
        self._showing = True
        second.setValue(min(second.value(), round(1 - first.value(), 4)))
        self._showing = False
        alpha, beta = self.alpha.value(), self.beta.value()
        self.triangle.set_values(alpha, beta)
        self._tell_coin(alpha, beta)
        self._touched()


def _section(text: str) -> QLabel:
    label = Label(text)
    label.setProperty("role", "section")
    return label


def _share(name: str) -> QDoubleSpinBox:
    box = QDoubleSpinBox(minimum=0.0, maximum=1.0, singleStep=0.01, decimals=2)
    box.setAccessibleName(name)
    box.setKeyboardTracking(False)
    return box
