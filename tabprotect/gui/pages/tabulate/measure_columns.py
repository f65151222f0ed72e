"""Which column is added up in place of counting records, and what the other columns say of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QWidget

from tabprotect.gui.look.buttons import choice, named, offer
from tabprotect.gui.look.label import Label, tip
from tabprotect.gui.look.layouts import FlowLayout, held, in_column, in_row
from tabprotect.gui.look.theme import GRID, THEME
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr, translate

ROLES: Mapping[str, tuple[str, str]] = {
    "holding": (
        message("Group of"),
        message("Whom a record belongs to: records of one group count as one contributor."),
    ),
    "request": (message("Request"), message("Who asked to be protected: 1, yes, true or x.")),
    "waiver": (message("Waiver"), message("Who waived protection: 1, yes, true or x.")),
    "shadow": (message("Judged by"), message("What rules are judged by in place of the amount.")),
    "cost": (message("Cost"), message("What it costs to hide a record's cell.")),
    "unit": (message("Number"), message("What tells records apart: one that comes twice is refused.")),
}
"""The columns that go with an amount: words and what they mean."""

USUAL = {"holding": ("ent", "holding", "group", "enterprise"), "waiver": ("waiver",),
         "request": ("request",)}  # fmt: skip
"""Names by which a column is taken for one of them, until somebody chooses."""


class MeasureColumns(QWidget):
    """``changed`` whenever another column is chosen."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.measure = choice(
            message("Add up"),
            changed=self._chosen,
            tip=message("An amount that is added up: a table of sums with their contributors."),
        )
        self.measure.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        label = Label(message("Add up"), buddy=self.measure)
        self.line_up(label, self.measure)
        self.boxes: dict[str, QComboBox] = {}
        self._more = QWidget()
        flow = FlowLayout(self._more, gap=GRID)
        names = [translate(words) for words, _ in ROLES.values()]
        for name, (words, meaning) in ROLES.items():
            box = self.boxes[name] = choice(words, changed=self.changed.emit, tip=tip(meaning))
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
            of = Label(words, buddy=box)
            of.setMinimumWidth(max(map(of.fontMetrics().horizontalAdvance, names)))
            box.setMinimumWidth(round(14 * GRID * THEME.scale))
            flow.addWidget(held(in_row(of, box, margins=0, spacing=GRID)))
        self.merge = named(
            QCheckBox(tr("One group in two spellings")),
            tip=tip(message("Groups whose names differ in capitals and spaces only count as one.")),
        )
        flow.addWidget(self.merge)
        in_column(in_row(label, self.measure, 1, spacing=GRID), self._more, on=self, margins=0, spacing=GRID)
        self._more.hide()

    @staticmethod
    def line_up(label: QLabel, box: QComboBox) -> None:
        """Names, and choices, of rows below each other begin at one place."""
        label.setMinimumWidth(label.fontMetrics().horizontalAdvance(tr("Each row counts")))
        box.setMinimumWidth(round(24 * GRID * THEME.scale))

    def offer(self, names: Sequence[str], numbers: Sequence[str]) -> None:
        """Offer the columns of a file; those of ``numbers`` can be added up."""
        offer(self.measure, {None: message("nothing: records are counted")}, names=numbers)
        for name, box in self.boxes.items():
            usual = (one for one in names if one.casefold() in USUAL.get(name, ()))
            offer(box, {None: message("none")}, names=names, current=next(usual, None))
        self._chosen()

    @property
    def given(self) -> dict[str, str | None]:
        """Return what is chosen, by the names that tabulating has for it; empty where records are counted."""
        if (measure := self.measure.currentData()) is None:
            return {}
        columns = {name: box.currentData() for name, box in self.boxes.items()}
        merged = {"spellings": "merge"} if self.merge.isChecked() else {}
        return {"measure": measure, **columns, **merged}

    def _chosen(self) -> None:
        self._more.setVisible(self.measure.currentData() is not None)
        self.setAccessibleDescription(tr("Amounts are added up") if self.given else tr("Records are counted"))
        self.changed.emit()
