"""The rules of a magnitude table: those that hold as chips, and a form for one more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDoubleSpinBox, QFrame, QWidget

from tabprotect.gui.look.after_press import AfterPress
from tabprotect.gui.look.buttons import choice, connected, emptied, named, push_button, silent, tool_button
from tabprotect.gui.look.label import Label, tip
from tabprotect.gui.look.layouts import FlowLayout, filled, in_column, in_row, set_visible
from tabprotect.gui.look.theme import GRID
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import translate


@dataclass(frozen=True)
class RuleWords:
    """A kind of rule on the form.

    Attributes
    ----------
    label
        Its name in the list.
    fields
        What each of its numbers is, with a usual value.
    says
        What it says, in a sentence.
    """

    label: str
    fields: tuple[tuple[str, float], ...]
    says: str


RULES: Mapping[str, RuleWords] = {
    "p": RuleWords(
        message("Nearness (p %)"),
        ((message("percent"), 10), (message("together"), 1)),
        message("Nobody may work out the largest contribution to within so many percent."),
    ),
    "n": RuleWords(
        message("Fewest contributors (n)"),
        ((message("contributors"), 3),),
        message("A sum has at least so many contributors."),
    ),
    "dominance": RuleWords(
        message("Dominance (n, k)"),
        ((message("largest"), 1), (message("percent"), 85)),
        message("The largest so many hold at most so many percent of the sum."),
    ),
    "pq": RuleWords(
        message("Nearness, something known before (p, q)"),
        ((message("percent"), 20), (message("known to"), 50)),
        message("As nearness, for readers who know the others to within q percent."),
    ),
    "niss": RuleWords(
        message("Few, or one that holds most (n, p)"),
        ((message("contributors"), 3), (message("percent"), 60)),
        message("At least so many contributors, none with more than so many percent."),
    ),
    "request": RuleWords(
        message("On request"),
        ((message("percent"), 70),),
        message("Who asked for it is protected if it holds more than so many percent."),
    ),
}
"""The kinds of rules by name, the usual ones first."""


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
        labels = {name: words.label for name, words in RULES.items()}
        self.kind = choice(message("Kind of rule"), labels, self._choose, wide=22)
        self.numbers = [QDoubleSpinBox(minimum=0, maximum=9_999) for _ in range(2)]
        self._units = [Label(role="quiet") for _ in self.numbers]
        form = QWidget()
        row = FlowLayout(form, gap=GRID)
        row.addWidget(self.kind)
        for box, unit in zip(self.numbers, self._units, strict=True):
            box.valueChanged.connect(lambda _: self._typed())
            filled(row, box, unit)
        self.add = push_button(message("Add rule"), self._add)
        row.addWidget(self.add)
        readings = {
            "sample": message("weights of a sample"),
            "replicate": message("weights stand for equal others"),
            "known": message("weighted contributions are known"),
        }
        self.weights = connected(
            choice(message("How weights are read"), readings),
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
                tip=tip(says(rule)),
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
        name = str(self.kind.currentData())
        numbers = [f"{box.value():g}" for box in self.numbers[: len(RULES[name].fields)]]
        if name == "p":
            together = numbers.pop()
            return f"p={numbers[0]}" + (f",coalition={together}" if together != "1" else "")
        return f"{name}={','.join(numbers)}"

    def show_draft(self, text: str) -> None:
        """Say what the rule that is being typed would do."""
        self._said = text
        # Of several lines it moves what stands below.
        self._drafting.go()

    def _choose(self) -> None:
        words = RULES[str(self.kind.currentData())]
        self.kind.setToolTip(tip(words.says))
        for number, (box, unit) in enumerate(zip(self.numbers, self._units, strict=True)):
            there = number < len(words.fields)
            set_visible(there, box, unit)
            if not there:
                continue
            label, usual = words.fields[number]
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


def says(rule: str) -> str:
    """Say what a written rule says."""
    name = rule.partition("=")[0]
    return "" if name not in RULES else joined((rule, RULES[name].says), ": ")
