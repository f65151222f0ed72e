"""The field of the at-risk rule, from one number to another, and what stands where sums have no rule."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QSpinBox, QWidget

from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.gui.look.buttons import named, silent
from tabprotect.gui.look.label import Label, tip
from tabprotect.gui.look.layouts import in_row
from tabprotect.gui.look.theme import GRID
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr

MOST = 999_999


class RuleField(QWidget):
    """The field; ``rule_set`` carries the rule whenever the user changes it."""

    rule_set = Signal(object)

    def __init__(self, words: str = message("Small: from")) -> None:
        super().__init__()
        self.low = named(QSpinBox(minimum=1, maximum=MOST), message("Lowest small count"))
        self.high = named(QSpinBox(minimum=0, maximum=MOST), message("Highest small count"))
        self.zeros = named(
            QCheckBox(tr("zeros, too")),
            tip=tip(message("Where nobody is can tell something of everybody else.")),
            clicked=self._changed,
        )
        for box in (self.low, self.high):
            box.setMaximumWidth(9 * GRID)
            box.setKeyboardTracking(False)
            box.editingFinished.connect(self._changed)
        self._shown = SmallCount()
        in_row(
            Label(words, buddy=self.low), self.low, Label(message("to")), self.high, self.zeros, on=self, margins=0,
            spacing=GRID // 2,
        )  # fmt: skip
        self.show_rule(self._shown)

    @property
    def rule(self) -> SmallCount:
        """The rule as set; the higher number is never below the lower one."""
        low = 0 if self.zeros.isChecked() else self.low.value()
        return SmallCount(low, max(self.high.value(), low))

    def show_rule(self, rule: SmallCount) -> None:
        """Show a rule without emitting a signal."""
        self._shown = rule
        with silent(self.low, self.high, self.zeros):
            self.zeros.setChecked(rule.low == 0)
            self.low.setValue(max(rule.low, 1))
            self.low.setEnabled(rule.low > 0)
            self.high.setValue(rule.high)

    def _changed(self) -> None:
        self.low.setEnabled(not self.zeros.isChecked())
        if self.rule != self._shown:
            self._shown = self.rule
            self.rule_set.emit(self.rule)
