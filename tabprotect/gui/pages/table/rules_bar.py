"""The rules of a magnitude table: those that hold as chips, and a form for one more."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDoubleSpinBox, QFrame, QWidget

from tabprotect.engine.options import option_named
from tabprotect.engine.project.options import Judging
from tabprotect.engine.sensitivity.magnitude_rules import MagnitudeRule, rules_of, sensitivity_rules
from tabprotect.engine.sensitivity.rule import ContributorRule
from tabprotect.gui.forms.option_fields import option_choice
from tabprotect.gui.look.after_press import AfterPress
from tabprotect.gui.look.buttons import choice, connected, emptied, named, push_button, silent, tool_button
from tabprotect.gui.look.label import Label, tip
from tabprotect.gui.look.layouts import FlowLayout, filled, in_column, in_row, set_visible
from tabprotect.gui.look.theme import GRID
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import translate


def fields(rule: ContributorRule) -> list[tuple[str, float]]:
    """What a form asks of a rule, each with its usual value."""
    usual = map(float, rule.examples[0].partition("=")[2].split(","))
    asked = list(zip(rule.asks or [""] * rule.numbers, usual, strict=False))
    return [*asked, (message("together"), 1.0)] if rule.coalitions else asked


class RulesBar(QFrame):
    """``rules_set`` carries all rules as texts; ``tried`` those with the one that is being typed."""

    rules_set = Signal(object)
    tried = Signal(object)
    weights_set = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        named(self, message("Rules"), role="card")
        self.rules: tuple[str, ...] = ()
        self._chips = QWidget()
        self._flow = FlowLayout(self._chips, gap=GRID // 2)
        rules = [rule for rule in sensitivity_rules().values() if isinstance(rule, ContributorRule)]
        self._kinds = {rule.name: rule for rule in sorted(rules, key=lambda rule: rule.place)}
        labels = {name: rule.label for name, rule in self._kinds.items()}
        self.kind = choice(message("Kind of rule"), labels, self._choose, wide=22, current="p")
        most = max(len(fields(rule)) for rule in rules)
        self.numbers = [QDoubleSpinBox(minimum=0, maximum=9_999) for _ in range(most)]
        self._units = [Label(role="quiet") for _ in self.numbers]
        form = QWidget()
        row = FlowLayout(form, gap=GRID)
        row.addWidget(self.kind)
        for box, unit in zip(self.numbers, self._units, strict=True):
            box.valueChanged.connect(lambda _: self._typed())
            filled(row, box, unit)
        self.add = push_button(message("Add rule"), self._add)
        row.addWidget(self.add)
        self.weights = connected(
            option_choice(option_named(Judging, "weights")),
            activated=lambda _: self.weights_set.emit(str(self.weights.currentData())),
        )
        row.addWidget(self.weights)
        self._draft = Label(wordWrap=True, role="quiet", name=message("What this rule would do"))
        self._said = ""
        self._drafting = AfterPress(self, lambda: self._draft.setText(translate(self._said)))
        in_column(
            in_row((Label(message("Rules"), role="section"), 0, Qt.AlignmentFlag.AlignTop),
                   (self._chips, 1), spacing=GRID),
            form,
            self._draft,
            on=self,
            margins=(GRID + 4, GRID, GRID + 4, GRID),
            spacing=GRID // 2,
        )  # fmt: skip
        self._choose()

    def show_rules(self, rules: Sequence[str], *, weighted: bool, weights: str) -> None:
        """Show the rules in force."""
        self.weights.setVisible(weighted)
        self.weights.setCurrentIndex(max(self.weights.findData(weights), 0))
        if tuple(rules) == self.rules and self._flow.count():
            return
        self.rules = tuple(rules)
        emptied(self._flow, secret=True)
        for rule in self.rules:
            chip = tool_button(
                f"{rule}  \u2715",
                lambda _=False, r=rule: self._take(r),
                name=message("Take away the rule {rule}", rule),
                tip=tip(joined((rule, rules_of([rule])[0].kind.says), ": ")),
                focus=Qt.FocusPolicy.StrongFocus,
            )
            self._flow.addWidget(chip)
        if not self.rules:
            self._flow.addWidget(Label(message("none yet: no sum is judged"), role="quiet"))
        self._typed()

    def forget(self) -> None:
        """Say no rule: they are the house's own."""
        self.rules = ()
        emptied(self._flow, secret=True)
        self._said = ""
        self._draft.clear()

    @property
    def typed(self) -> str:
        """The rule that the form says."""
        rule = self._kinds[self.kind.currentData()]
        numbers = [Fraction(box.value()) for box in self.numbers[: len(fields(rule))]]
        together = int(numbers.pop()) if rule.coalitions else 1
        return MagnitudeRule(rule.name, tuple(numbers), together).written

    def show_draft(self, text: str) -> None:
        """Say what the rule that is being typed would do."""
        self._said = text
        # Of several lines it moves what stands below.
        self._drafting.go()

    def _choose(self) -> None:
        rule = self._kinds[self.kind.currentData()]
        asked = fields(rule)
        self.kind.setToolTip(tip(rule.says))
        for number, (box, unit) in enumerate(zip(self.numbers, self._units, strict=True)):
            there = number < len(asked)
            set_visible(there, box, unit)
            if not there:
                continue
            label, usual = asked[number]
            whole = label in ("contributors", "largest", "together")
            with silent(box):
                box.setDecimals(0 if whole else 1)
                box.setValue(usual)
            unit.setText(translate(label))
            box.setAccessibleName(translate(label))
        self._typed()

    def _typed(self) -> None:
        here = self.typed in self.rules
        self.add.setEnabled(not here)
        self.tried.emit(None if here else (*self.rules, self.typed))

    def _add(self) -> None:
        if self.typed not in self.rules:
            self.rules_set.emit((*self.rules, self.typed))

    def _take(self, rule: str) -> None:
        self.rules_set.emit(tuple(one for one in self.rules if one != rule))
