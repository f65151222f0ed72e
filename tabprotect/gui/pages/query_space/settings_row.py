"""By what a release is judged: criterion, threshold, at-risk counts, and how bounds are found."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QSpinBox, QWidget

from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.query_verbs import set_release_criterion
from tabprotect.engine.project.verbs.table_verbs import set_at_risk
from tabprotect.engine.query_space.registered import criteria
from tabprotect.engine.query_space.ways_to_bound import BOUNDS_WAYS
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.gui.base.rule_field import RuleField
from tabprotect.gui.look.flow import FlowLayout
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_row
from tabprotect.gui.look.theme import GRID

WAYS = {
    "auto": "cheapest sharp",
    "decomposable": "closed form only",
    "shuttle": "shuttle",
    "lp": "linear programmes",
    "integer": "integer programmes",
}


class SettingsRow(QWidget):
    """``asked`` carries a command's name and its arguments."""

    asked = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.criterion = QComboBox()
        self.criterion.setAccessibleName("Risk criterion")
        for name, found in criteria().items():
            self.criterion.addItem(found.label, name)
            tip = f"<p>{found.help}</p>"
            self.criterion.setItemData(self.criterion.count() - 1, tip, 3)
        _narrow(self.criterion, 30)
        self.threshold = QSpinBox(minimum=0, maximum=1_000_000)
        self.threshold.setMaximumWidth(9 * GRID)
        self.threshold.setKeyboardTracking(False)
        self.threshold.setAccessibleName("Threshold beta")
        self.threshold.setToolTip(
            "<p>Beta: a sub-table may go out when the criterion is proved to be at least this.</p>"
        )
        self.at_risk = RuleField("At risk: from")
        self.bounds = QComboBox()
        self.bounds.setAccessibleName("How bounds are found")
        for name, help_ in BOUNDS_WAYS.items():
            self.bounds.addItem(WAYS.get(name, name), name)
            self.bounds.setItemData(self.bounds.count() - 1, f"<p>{help_}</p>", 3)
        _narrow(self.bounds, 18)
        # A narrow window has the groups below each other.
        flow = FlowLayout(self, gap=GRID)
        for part in (
            _together("May go out when", self.criterion, "is at least", self.threshold),
            self.at_risk,
            _together("Bounds", self.bounds),
        ):
            flow.addWidget(part)
        self.criterion.activated.connect(lambda _: self._ask("criterion"))
        self.bounds.activated.connect(lambda _: self._ask("bounds"))
        self.threshold.valueChanged.connect(self._threshold_changed)
        self.at_risk.rule_set.connect(lambda rule: self.asked.emit(set_at_risk(rule=str(rule))))

    def show_project(self, project: Project) -> None:
        """Show what is in force."""
        plan = project.plan
        self.criterion.setCurrentIndex(self.criterion.findData(plan.criterion))
        self.bounds.setCurrentIndex(self.bounds.findData(plan.bounds))
        self.threshold.blockSignals(True)
        self.threshold.setValue(plan.threshold)
        self.threshold.blockSignals(False)
        self.at_risk.show_rule(project.at_risk)
        found = criteria()[plan.criterion]
        self.criterion.setToolTip(f"<p>{found.help}</p>")
        self.bounds.setToolTip(f"<p>{BOUNDS_WAYS[self.bounds.currentData()]}</p>")

    def forget(self) -> None:
        """Show no rule of the house."""
        self.at_risk.show_rule(SmallCount())

    def _ask(self, name: str) -> None:
        box: QComboBox = getattr(self, name)
        self.asked.emit(set_release_criterion.order({name: box.currentData()}))

    def _threshold_changed(self, value: int) -> None:
        self.asked.emit(set_release_criterion(threshold=value))


def _together(*parts: str | QWidget) -> QWidget:
    """Fields in one row, each behind its words."""
    group = QWidget()
    row = in_row(on=group, margins=0, spacing=GRID)
    label = None
    for part in parts:
        if isinstance(part, str):
            label = part = Label(part)
        elif label is not None:
            label.setBuddy(part)
        row.addWidget(part)
    return group


def _narrow(box: QComboBox, letters: int) -> None:
    """Let a list of long words be cut rather than make the page wider than the window."""
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.setMinimumContentsLength(letters)
