"""An analysis over possible originals drawn from the posterior: the spread perturbation adds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QComboBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSpinBox,
    QWidget,
)

from tabprotect.engine.arrays import Floats
from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.posterior.analysis import (
    AnalysisSummary,
    Statistic,
    analyse,
    chi_square,
    cramers_v,
    odds_ratio,
)
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.project import Who
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.question import Question
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column, in_row
from tabprotect.gui.look.theme import GRID, count_text
from tabprotect.gui.plots.marks import Mark
from tabprotect.gui.plots.spread import SpreadPlot, number

DRAWS, FEW_DRAWS, MANY_CELLS = 2_000, 200, 20_000
"""Draws that are offered, fewer for tables of many cells: seconds, not minutes."""

PARTS = 20
"""A run is cut into so many parts; each shows up as it is done."""

ROWS = ("published", "original", "mean", "standard deviation", "95 % of draws", "not defined")


@dataclass(frozen=True)
class Analysis:
    """What is asked: a statistic with its name, and whose belief the tables come from."""

    name: str
    statistic: Statistic
    who: Who


class _Part:
    """Progress of one part of a run; every report brings what is known so far.

    Whoever watches may skip reports, so none is the only one with a result.
    """

    def __init__(self, whole: Progress, at: int, known: object) -> None:
        self._whole, self._at, self._known = whole, at, known

    def report(self, stage: str, fraction: float, partial: object = None) -> None:
        self._whole.report("drawing tables", (self._at + fraction) / PARTS, self._known)


def spread(
    posterior: Posterior, analysis: Analysis, draws: int, progress: Progress
) -> tuple[AnalysisSummary, int]:
    """The statistic over the draws; ``progress`` gets each partial summary.

    Returns
    -------
    Summary, int
        The summary, and how many draws were asked for.
    """
    generator = Randomness.fresh().generator()
    values: list[Floats] = []
    cuts = np.linspace(0, draws, PARTS + 1).astype(int)
    summary: AnalysisSummary | None = None
    for part, number_ in enumerate(np.diff(cuts).tolist()):
        if not number_:
            continue
        found = analyse(
            posterior,
            analysis.statistic,
            analysis.name,
            generator=generator,
            draws=number_,
            progress=_Part(progress, part, None if summary is None else (summary, draws)),
        )
        values.append(found.values)
        summary = AnalysisSummary(found.name, found.published, np.concatenate(values))
        progress.report("drawing tables", (part + 1) / PARTS, (summary, draws))
    assert summary is not None
    return summary, draws


class CornerChoice(QWidget):
    """The corner of a 2 x 2 block opposite to the selected cell: two variables, two categories."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Opposite corner of the 2 x 2 block")
        self._domain: Domain | None = None
        self.variables = (QComboBox(), QComboBox())
        self.categories = (QComboBox(), QComboBox())
        row = in_row(on=self, margins=0, spacing=4)
        for number_, (variable, category) in enumerate(
            zip(self.variables, self.categories, strict=True), 1
        ):
            variable.setAccessibleName(f"Variable {number_} of the block")
            category.setAccessibleName(f"Other category of variable {number_}")
            variable.currentIndexChanged.connect(lambda _, n=number_ - 1: self._fill(n))
            for box in (variable, category):
                box.setSizeAdjustPolicy(
                    QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
                )
                box.setMinimumContentsLength(5)
                row.addWidget(box)

    def show_domain(self, domain: Domain) -> None:
        """Offer the variables of a table."""
        if domain == self._domain:
            return
        self._domain = domain
        for number_, box in enumerate(self.variables):
            box.blockSignals(True)
            box.clear()
            box.addItems(list(domain.names))
            box.setCurrentIndex(min(number_, domain.ndim - 1))
            box.blockSignals(False)
            self._fill(number_)

    def _fill(self, which: int) -> None:
        assert self._domain is not None
        box = self.categories[which]
        box.clear()
        box.addItems(list(self._domain.variables[self.variables[which].currentIndex()].categories))
        box.setCurrentIndex(box.count() - 1)

    def corner(self, first: Index) -> Index:
        """The cell opposite to ``first``."""
        out = list(first)
        for variable, category in zip(self.variables, self.categories, strict=True):
            out[variable.currentIndex()] = category.currentIndex()
        return tuple(out)


class DrawsPanel(QWidget):
    """Choose an analysis, draw, see the spread."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self.document = document
        self.setAccessibleName("Analyses of drawn tables")
        self.result: tuple[AnalysisSummary, int] | None = None
        self._analysis: Analysis | None = None
        self._drawing: Question[tuple[AnalysisSummary, int]] = Question(
            self, document.jobs, self._take, self._failed, came=self._take
        )
        self._domain: Domain | None = None
        self.kind = QComboBox()
        self.kind.setAccessibleName("Analysis")
        self.kind.currentIndexChanged.connect(lambda _: self._kind_chosen())
        self.corner = CornerChoice()
        self.who = QComboBox()
        self.who.setAccessibleName("Whose belief the tables are drawn from")
        for name in ("user", "intruder"):
            self.who.addItem(f"the {name}'s belief", name)
        self.draws = QSpinBox(minimum=20, maximum=100_000, singleStep=500, value=DRAWS)
        self.draws.setSuffix(" tables")
        self.draws.setGroupSeparatorShown(True)
        self.draws.setAccessibleName("How many tables to draw")
        self.button = QPushButton("Draw")
        self.button.setAccessibleName("Draw possible originals and analyse them")
        self.button.clicked.connect(self.run)
        self.sentence = Label(wordWrap=True)
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.sentence.setAccessibleName("The spread in one sentence")
        self.plot = SpreadPlot()
        self._rows: dict[str, QLabel] = {}
        self._form = QFormLayout()
        self._form.setVerticalSpacing(2)
        for name in ROWS:
            label, value = Label(name), Label()
            label.setProperty("role", "quiet")
            value.setAlignment(Qt.AlignmentFlag.AlignRight)
            value.setAccessibleName(name)
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self._form.addRow(label, value)
            self._rows[name] = value
        first, second = QHBoxLayout(), QHBoxLayout()
        for row, widgets in ((first, (self.kind,)), (second, (self.who, self.draws))):
            row.setSpacing(GRID)
            for widget in widgets:
                row.addWidget(widget, 1)
        second.addWidget(self.button)
        in_column(
            first,
            self.corner,
            second,
            self.sentence,
            (self.plot, 1),
            self._form,
            on=self,
            margins=(0, GRID, 0, 0),
            spacing=GRID,
        )
        self._show()

    def controls(self) -> list[QWidget]:
        """What takes the keyboard, in reading order."""
        corner = [
            box
            for pair in zip(self.corner.variables, self.corner.categories, strict=True)
            for box in pair
        ]
        asked = [self.kind, *corner, self.who, self.draws, self.button]
        return [*asked, *self.plot.controls()]

    def value(self, name: str) -> str:
        """One of the figures as shown; empty when it is not."""
        return self._rows[name].text() if self._form.isRowVisible(self._rows[name]) else ""

    def refresh(self, changes: frozenset[str]) -> None:
        """Forget what belongs to another release or prior; show what this view may show."""
        project = self.document.project
        if project is None:
            return
        if changes & {"release", "priors", "table", "everything"}:
            self._drawing.drop()
            self.result = None
        if self._domain != project.domain:
            self._domain = project.domain
            self.draws.setValue(FEW_DRAWS if project.domain.size > MANY_CELLS else DRAWS)
        self._fill_kinds(project.domain)
        self.corner.show_domain(project.domain)
        self._show()

    def _fill_kinds(self, domain: Domain) -> None:
        kinds = [
            ("chi-square of independence", "chi"),
            ("odds ratio of a 2 \u00d7 2 block", "odds"),
        ]
        if domain.ndim == 2:
            kinds.insert(1, ("Cram\u00e9r's V", "v"))
        if [self.kind.itemData(i) for i in range(self.kind.count())] != [d for _, d in kinds]:
            self.kind.blockSignals(True)
            self.kind.clear()
            for label, data in kinds:
                self.kind.addItem(label, data)
            self.kind.blockSignals(False)
        self._kind_chosen()

    def _kind_chosen(self) -> None:
        self.corner.setVisible(self.kind.currentData() == "odds")

    # -- running ------------------------------------------------------------------------------

    def _asked(self, domain: Domain) -> Analysis:
        who: Who = self.who.currentData()
        kind = self.kind.currentData()
        if kind == "chi":
            return Analysis("chi-square of independence", chi_square, who)
        if kind == "v":
            return Analysis("Cram\u00e9r's V", cramers_v, who)
        first = self.document.selection or (0,) * domain.ndim
        second = self.corner.corner(first)
        cells = f"{domain.cell_text(first)} and {domain.cell_text(second)}"
        return Analysis(f"odds ratio of {cells}", odds_ratio(domain, first, second), who)

    def run(self) -> None:
        """Draw and analyse, beside the window."""
        project = self.document.project
        if project is None or self.document.release is None:
            return
        try:
            analysis = self._asked(project.domain)
        except TabprotectError as error:
            self.document.error_raised.emit(error, "posterior")
            return
        posterior = self.document.known_posterior(analysis.who)
        if posterior is None:
            self.plot.show_nothing(f"The posterior of the {analysis.who} is not known (yet).")
            return
        draws = self.draws.value()
        self.result, self._analysis = None, analysis
        self._show()
        self._drawing.ask(
            f"{count_text(draws)} possible originals",
            lambda progress: spread(posterior, analysis, draws, progress),
        )

    def _take(self, result: tuple[AnalysisSummary, int]) -> None:
        self.result = result
        self._show()

    def _failed(self, error: TabprotectError) -> None:
        self.document.error_raised.emit(error, "posterior")

    # -- showing ------------------------------------------------------------------------------

    def _show(self) -> None:
        if self.result is None or self._analysis is None:
            self.plot.show_nothing(
                "What does perturbation do to an analysis? Draw possible originals and see how "
                "far its result spreads over them."
            )
            self.sentence.clear()
            self.sentence.hide()
            for value in self._rows.values():
                value.clear()
                self._form.setRowVisible(value, False)
            return
        summary, asked = self.result
        true = self.true_value()
        self.plot.show_values(summary.values, marks=self._marks(summary, true), label=summary.name)
        low, high = summary.quantiles[0.025], summary.quantiles[0.975]
        told = {
            "published": number(summary.published),
            "mean": number(summary.mean),
            "standard deviation": number(summary.standard_deviation),
            "95 % of draws": f"{number(low)} to {number(high)}",
        }
        if true is not None:
            told["original"] = f"{number(true)}  [staff only]"
        if summary.undefined:
            told["not defined"] = f"{count_text(summary.undefined)} draws"
        for name, value in self._rows.items():
            value.setText(told.get(name, ""))
            self._form.setRowVisible(value, name in told)
        done = len(summary.values)
        over = count_text(done) if done >= asked else f"{count_text(done)} of {count_text(asked)}"
        self.sentence.setText(self._words(summary, over))
        self.sentence.show()

    def true_value(self) -> float | None:
        """The analysis on the original; ``None`` in public view."""
        original = None if self.document.public else self.document.original
        if original is None or self._analysis is None:
            return None
        return float(self._analysis.statistic(original.counts[None])[0])

    @staticmethod
    def _marks(summary: AnalysisSummary, true: float | None) -> tuple[Mark, ...]:
        marks = [Mark(summary.published, f"published {number(summary.published)}")]
        if true is not None:
            marks.append(Mark(true, f"original {number(true)} [staff only]", true=True))
        return tuple(marks)

    @staticmethod
    def _words(summary: AnalysisSummary, over: str) -> str:
        name = summary.name[:1].upper() + summary.name[1:]
        if math.isnan(summary.mean):
            return f"{name} is defined on none of {over} possible originals."
        return (
            f"{name} is {number(summary.published)} on the published table; over {over} possible "
            f"originals it is {number(summary.mean)} \u00b1 {number(summary.standard_deviation)}."
        )
