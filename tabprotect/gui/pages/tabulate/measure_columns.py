"""Which column is added up in place of counting records, and what the other columns say of it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QLabel, QWidget

from tabprotect.engine.options import option_named
from tabprotect.engine.project.options import MagnitudeTabulation
from tabprotect.gui.look.buttons import offer
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import FlowLayout, held, in_column, in_row
from tabprotect.gui.look.theme import GRID, THEME
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr, translate

ROLES = ("holding", "request", "waiver", "shadow", "cost", "unit")
"""The options that name columns which go with an amount."""

USUAL = {"holding": ("ent", "holding", "group", "enterprise", "firm", "company", "business", "unternehmen",
                     "firma", "betrieb"),
         "waiver": ("waiver",), "request": ("request",)}  # fmt: skip
"""Names by which a column is taken for one of them, until somebody chooses."""


class MeasureColumns(QWidget):
    """``changed`` whenever another column is chosen."""

    changed = Signal()

    def __init__(self) -> None:
        from tabprotect.gui.forms.option_fields import option_choice

        super().__init__()
        measure = option_named(MagnitudeTabulation, "measure")
        self.measure = option_choice(measure, self._chosen)
        self.measure.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        label = Label(measure.label, buddy=self.measure)
        self.line_up(label, self.measure)
        self.boxes: dict[str, QComboBox] = {}
        self._more = QWidget()
        flow = FlowLayout(self._more, gap=GRID)
        asked = [option_named(MagnitudeTabulation, name) for name in (*ROLES, "spellings")]
        for option in asked:
            box = self.boxes[option.name] = option_choice(option, self.changed.emit)
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
            of = Label(option.label, buddy=box)
            of.setMinimumWidth(max(of.fontMetrics().horizontalAdvance(translate(one.label)) for one in asked))
            box.setMinimumWidth(round(14 * GRID * THEME.scale))
            flow.addWidget(held(in_row(of, box, margins=0, spacing=GRID)))
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
        for name in ROLES:
            usual = (one for one in names if one.casefold() in USUAL.get(name, ()))
            offer(self.boxes[name], {None: message("none")}, names=names, current=next(usual, None))
        self._chosen()

    @property
    def given(self) -> dict[str, str]:
        """Return what is chosen, by the names that tabulating has for it; empty where records are counted."""
        if (measure := self.measure.currentData()) is None:
            return {}
        said = {name: box.currentData() for name, box in self.boxes.items()}
        usual = {name: option_named(MagnitudeTabulation, name).default for name in said}
        return {"measure": measure} | {name: value for name, value in said.items() if value != usual[name]}

    def _chosen(self) -> None:
        self._more.setVisible(self.measure.currentData() is not None)
        self.setAccessibleDescription(tr("Amounts are added up") if self.given else tr("Records are counted"))
        self.changed.emit()
