"""An analysis over possible originals drawn from the posterior: the spread perturbation adds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QFormLayout, QLabel, QLineEdit, QScrollArea, QSpinBox, QWidget

from tabprotect.engine.arrays import Floats
from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.posterior.analysis import (
    AnalysisSummary,
    ModelSummary,
    Statistic,
    analyse,
    chi_square,
    cramers_v,
    odds_ratio,
)
from tabprotect.engine.posterior.log_linear import LogLinear
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.progress import PartialProgress, Progress
from tabprotect.engine.project.project import Who
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release
from tabprotect.engine.release.verdict_figures import READER
from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.base.document import Document
from tabprotect.gui.forms.parameters.field import CHOSEN
from tabprotect.gui.forms.parameters.name_chips import NameChips
from tabprotect.gui.look.buttons import Scrolling, choice, named, offer, push_button, silent
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column, in_row, set_visible
from tabprotect.gui.look.theme import GRID, count_text
from tabprotect.gui.plots.canvas import Mark
from tabprotect.gui.plots.spread import SpreadPlot, number
from tabprotect.languages.messages import capital, joined, message
from tabprotect.languages.translation import tr, translate

if TYPE_CHECKING:
    from tabprotect.engine.belief.analysing import Analysing

DRAWS, FEW_DRAWS, MANY_CELLS = 2_000, 200, 20_000
"""Draws that are offered, fewer for tables of many cells: seconds, not minutes."""

PARTS = 20
"""A run is cut into so many parts; each shows up as it is done."""

ROWS = (
    "published",
    "original",
    "mean",
    message("standard deviation"),
    message("95 % of draws"),
    message("not defined"),
)


@dataclass(frozen=True)
class Analysis:
    """An analysis that is asked for: a statistic with its name, whose belief the tables come from, and the
    model
    that it is the deviance of."""

    name: str
    statistic: Statistic
    who: Who
    model: LogLinear | None = None


def statistic_over_draws(
    releases: Sequence[Release], posterior: Posterior, analysis: Analysis, draws: int, progress: Progress
) -> tuple[AnalysisSummary, int]:
    """The statistic over the draws, with what the releases say of it; ``progress`` gets each partial summary.

    Returns
    -------
    Summary, int
        The summary, and how many draws were asked for.
    """
    generator, stage = Randomness.fresh().generator(), message("drawing tables")
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
            progress=PartialProgress(progress, part, PARTS, stage, summary and (summary, draws)),
        )
        values.append(found.values)
        summary = AnalysisSummary(found.name, found.published, np.concatenate(values))
        progress.report(stage, (part + 1) / PARTS, (summary, draws))
    assert summary is not None
    told_of = _analysing(releases, posterior, progress).independence(analysis.statistic)
    return replace(summary, independence=told_of), draws


def _analysing(releases: Sequence[Release], posterior: Posterior, progress: Progress) -> Analysing:
    """Return what the commands and the library ask too."""
    # Late: a window that only shows a table does not wait for it.
    from tabprotect.engine.belief.analysing import Analysing
    from tabprotect.engine.belief.evidence import PriorKnowledge
    from tabprotect.engine.disclosure.counts_verdict import weigh_refused

    knowing = PriorKnowledge(weigh_refused=weigh_refused)
    return Analysing(releases, posterior, knowing, Randomness.fresh(), progress)


class DrawsPanel(QWidget):
    """Choose an analysis, draw, see the spread."""

    def __init__(self, document: Document) -> None:
        super().__init__(accessibleName=tr("Analyses of drawn tables"))
        self.document = document
        self._analysis: Analysis | None = None
        self._drawing: BackgroundTask[tuple[AnalysisSummary, int]] = BackgroundTask(
            self, document.jobs, self._show, self._failed, came=self._show
        )
        self._domain: Domain | None = None
        self.kind = choice(message("Analysis"), changed=self._kind_chosen)
        self.corner = CornerChoice()
        self.formula = named(
            QLineEdit(),
            message("Log-linear model"),
            tip=message("Which variables go together, as a formula"),
            returnPressed=self.run,
        )
        self.terms = NameChips(*CHOSEN["formula"], terms=True)
        self.formula.textEdited.connect(self.terms.show_text)
        self.terms.changed.connect(self.formula.setText)
        self._fitting: BackgroundTask[ModelSummary] = BackgroundTask(
            self, document.jobs, self._show, self._failed
        )
        self.odds = Label(wordWrap=True, name=message("What the release says by itself"), selectable=True)
        readers: dict[Who, str] = {"user": READER["user"], "intruder": READER["intruder"]}
        self.who = choice(message("Which reader the tables are drawn for"), readers)
        self.draws = named(
            QSpinBox(minimum=20, maximum=100_000, singleStep=500, value=DRAWS, suffix=tr(" tables")),
            message("How many tables to draw"),
        )
        self.button = push_button(
            message("Draw"), self.run, name=message("Draw tables that could be behind it, and analyse them")
        )
        self.sentence = Label(wordWrap=True, name=message("The spread in one sentence"), selectable=True)
        self.plot = SpreadPlot()
        self._rows: dict[str, QLabel] = {}
        self._form = self._figures()
        second = in_row((self.who, 1), (self.draws, 1), self.button, spacing=GRID)
        in_column(
            in_row((self.kind, 1), spacing=GRID),
            self.corner,
            self.formula,
            self.terms,
            second,
            self.sentence,
            (self.plot, 1),
            self._form,
            self._odds_report(),
            on=self,
            margins=(0, GRID, 0, 0),
            spacing=GRID,
        )
        self._show()

    def _figures(self) -> QFormLayout:
        form = QFormLayout(verticalSpacing=2)
        for name in ROWS:
            right = Qt.AlignmentFlag.AlignRight
            value = self._rows[name] = Label(name=message(name), alignment=right, selectable=True)
            form.addRow(Label(message(name), role="quiet"), value)
        return form

    def _odds_report(self) -> QScrollArea:
        """The odds ratios scroll: a model may have many."""
        self._area = Scrolling(self.odds)
        self._area.setMaximumHeight(16 * GRID)
        self._area.hide()
        return self._area

    def value(self, name: str) -> str:
        """One of the figures as shown; empty when it is not."""
        return self._rows[name].text() if self._form.isRowVisible(self._rows[name]) else ""

    def refresh(self, changes: frozenset[str]) -> None:
        """Forget what belongs to another release or prior; show what this view may show."""
        if (project := self.document.project) is None:
            return
        if changes & {"release", "priors", "table", "everything"}:
            self._drawing.drop()
            self._fitting.drop()
        if self._domain != project.domain:
            self._domain = project.domain
            self.draws.setValue(FEW_DRAWS if project.domain.size > MANY_CELLS else DRAWS)
            self.formula.setText(
                translate(joined((message("`{name}`", name) for name in project.domain.names), " + "))
            )
            self.terms.offer(project.domain.names)
            self.terms.show_text(self.formula.text())
        self._fill_kinds(project.domain)
        self.corner.show_domain(project.domain)
        self._show()

    def _fill_kinds(self, domain: Domain) -> None:
        kinds = {
            "chi": message("chi-square of independence"),
            "v": message("Cram\u00e9r's V"),
            "odds": message("odds ratio of a 2 \u00d7 2 block"),
            "model": message("log-linear model"),
        }
        if domain.ndim != 2:
            del kinds["v"]
        offer(self.kind, kinds, current=self.kind.currentData())
        self._kind_chosen()

    def _kind_chosen(self) -> None:
        self.corner.setVisible(self.kind.currentData() == "odds")
        set_visible(self.kind.currentData() == "model", self.formula, self.terms)

    # -- running ------------------------------------------------------------------------------

    def _asked(self, domain: Domain) -> Analysis:
        who: Who = self.who.currentData()
        if (kind := self.kind.currentData()) == "chi":
            return Analysis(message("chi-square of independence"), chi_square, who)
        if kind == "v":
            return Analysis(message("Cram\u00e9r's V"), cramers_v, who)
        if kind == "model":
            model = LogLinear.of(domain, self.formula.text())
            terms = joined((joined(margin, " \u00d7 ") for margin in model.margins), " + ")
            name = message(
                "deviance of {terms} ({degrees} degrees of freedom)", terms, count_text(model.degrees)
            )
            return Analysis(name, lambda tables: model.deviance(tables, model.fit(tables)), who, model)
        first = self.document.counts_selected[0] or (0,) * domain.ndim
        second = self.corner.corner(first)
        cells = message("{first} and {second}", domain.cell_text(first), domain.cell_text(second))
        return Analysis(message("odds ratio of {cells}", cells), odds_ratio(domain, first, second), who)

    def run(self) -> None:
        """Draw and analyse, beside the window."""
        project, release = self.document.project, self.document.counts_release
        if project is None or release is None:
            return
        try:
            analysis = self._asked(project.domain)
        except TabprotectError as error:
            self.document.error_raised.emit(error, "check")
            return
        if (posterior := self.document.known_posterior(analysis.who)) is None:
            self.plot.show_nothing(
                message("What {who} would think is not worked out yet.", message(analysis.who))
            )
            return
        draws = self.draws.value()
        # Counts beside magnitudes are read from more than their own tables.
        releases = [] if self.document.of_magnitudes else [release]
        self._analysis = analysis
        self._drawing.drop()
        self._fitting.drop()
        self._show()
        if (model := analysis.model) is not None:
            self._fitting.ask(
                message("a model of {draws} drawn tables", count_text(draws)),
                lambda progress: _analysing(releases, posterior, progress).fit(model, draws=draws),
            )
            return
        self._drawing.ask(
            message("{draws} drawn tables", count_text(draws)),
            lambda progress: statistic_over_draws(releases, posterior, analysis, draws, progress),
        )

    @property
    def model(self) -> ModelSummary | None:
        """The model that was fitted to the draws."""
        return self._fitting.answer

    @property
    def result(self) -> tuple[AnalysisSummary, int] | None:
        """The summary of the draws so far, and how many were asked for."""
        if self.model is None or self._analysis is None:
            return self._drawing.answer
        return replace(self.model.deviance, name=self._analysis.name), len(self.model.deviance.values)

    def _failed(self, error: TabprotectError) -> None:
        self.document.error_raised.emit(error, "check")

    # -- showing ------------------------------------------------------------------------------

    def _show(self, _found: object = None) -> None:
        lines = self._given_the_release()
        self.odds.setText(translate(joined(lines, "\n")))
        self._area.setVisible(bool(lines))
        if self.result is None or self._analysis is None:
            self.plot.show_nothing(
                message(
                    "What do the changes do to an analysis? Draw tables that could be behind "
                    "the published one and see how far the result spreads."
                )
            )
            self.sentence.setText("")
            self.sentence.hide()
            for value in self._rows.values():
                value.clear()
                self._form.setRowVisible(value, False)
            return
        summary, asked = self.result
        true = self.true_value()
        self.plot.show_values(summary.values, marks=self._marks(summary, true), label=summary.name)
        low, high = summary.quantiles[0.025], summary.quantiles[0.975]
        texts = {
            "published": number(summary.published),
            "mean": number(summary.mean),
            message("standard deviation"): number(summary.standard_deviation),
            message("95 % of draws"): message("{low} to {high}", number(low), number(high)),
        }
        if true is not None:
            texts["original"] = message("{true}  [staff only]", number(true))
        if summary.undefined:
            texts["not defined"] = message("{undefined} draws", count_text(summary.undefined))
        for name, value in self._rows.items():
            value.setText(translate(texts.get(name, "")))
            self._form.setRowVisible(value, name in texts)
        done = len(summary.values)
        over = (
            count_text(done)
            if done >= asked
            else message("{done} of {asked}", count_text(done), count_text(asked))
        )
        self.sentence.setText(translate(self._words(summary, over)))
        self.sentence.show()

    def _given_the_release(self) -> list[str]:
        """Return what the release says by itself: of the model, or of independence."""
        if self.model is not None:
            return self.model.lines
        if self.result is None or (found := self.result[0].independence) is None:
            return []
        analysis = self._analysis
        return found.lines(strength=analysis is not None and analysis.statistic is cramers_v)

    def true_value(self) -> float | None:
        """The analysis on the original; ``None`` in public view."""
        original = None if self.document.public else self.document.original
        if original is None or self._analysis is None:
            return None
        return float(self._analysis.statistic(original.counts[None])[0])

    @staticmethod
    def _marks(summary: AnalysisSummary, true: float | None) -> tuple[Mark, ...]:
        marks = [Mark(summary.published, message("published {published}", number(summary.published)))]
        if true is not None:
            marks.append(Mark(true, message("original {true} [staff only]", number(true)), true=True))
        return tuple(marks)

    @staticmethod
    def _words(summary: AnalysisSummary, over: str) -> str:
        name = capital(summary.name)
        if math.isnan(summary.mean):
            return message("{name} is defined on none of the {over} drawn tables.", name, over)
        return message(
            "{name} is {published} on the published table; over {over} drawn tables it is "
            "{mean} ± {standard_deviation}.",
            name,
            number(summary.published),
            over,
            number(summary.mean),
            number(summary.standard_deviation),
        )


class CornerChoice(QWidget):
    """The corner of a 2 x 2 block opposite to the selected cell: two variables, two categories."""

    def __init__(self) -> None:
        super().__init__(accessibleName=tr("Opposite corner of the 2 × 2 block"))
        self._domain: Domain | None = None
        self.variables = (QComboBox(), QComboBox())
        self.categories = (QComboBox(), QComboBox())
        row = in_row(on=self, margins=0, spacing=4)
        for number_, (variable, category) in enumerate(zip(self.variables, self.categories, strict=True), 1):
            variable.setAccessibleName(tr("Variable {number} of the block", number_))
            category.setAccessibleName(tr("Other category of variable {number}", number_))
            variable.currentIndexChanged.connect(lambda _, n=number_ - 1: self._fill(n))
            for box in (variable, category):
                box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
                box.setMinimumContentsLength(3)
                row.addWidget(box)

    def show_domain(self, domain: Domain) -> None:
        """Offer the variables of a table."""
        if domain == self._domain:
            return
        self._domain = domain
        for number_, box in enumerate(self.variables):
            with silent(box):
                box.clear()
                box.addItems(list(domain.names))
                box.setCurrentIndex(min(number_, domain.ndim - 1))
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
