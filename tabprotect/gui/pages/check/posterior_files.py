"""The posterior as files: figures as SVG and PNG, numbers as CSV.

What holds anything of the original says CONFIDENTIAL in its name and in its content; in public
view nothing of the original can be written.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QObject
from PySide6.QtGui import QAction

from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.posterior.analysis import AnalysisSummary
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.progress import Progress
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Index
from tabprotect.engine.tables.table import Table
from tabprotect.gui.base.confidential_files import MARK, marked
from tabprotect.gui.base.question import Question
from tabprotect.gui.look.drawing import Sheet, figure_font
from tabprotect.gui.look.file_dialogs import ask_export
from tabprotect.gui.pages.check.cell_figures import LEVEL
from tabprotect.gui.pages.check.posterior_shown import PosteriorShown
from tabprotect.gui.pages.check.stage import KINDS
from tabprotect.gui.pages.check.words import cell_sentence, published_count, way_sentence
from tabprotect.gui.plots.heat_figure import HeatFigure


def table_csv(
    posteriors: dict[str, Posterior],
    progress: Progress,
    *,
    rule: SmallCount,
    original: Table | None,
) -> bytes:
    """A row per cell: labels, published count, and the figures of each person.

    With an original, its column and every P(true) column have the mark in their names.
    """
    first = next(iter(posteriors.values()))
    domain = first.published.domain
    head = [*domain.names, "published"]
    columns: list[list[Any]] = [_shown(first, first.published.counts)]
    if original is not None:
        head.append(f"original_{MARK}")
        columns.append(original.counts.reshape(-1).tolist())
    for who, posterior in posteriors.items():
        progress.report("working out the figures", 0.0)
        low, high = posterior.interval(LEVEL)
        figures: dict[str, np.ndarray] = {
            "mean": posterior.mean,
            "mode": posterior.mode,
            "low_90": low,
            "high_90": high,
            "entropy_bits": posterior.entropy,
            "p_published": posterior.probability(first.published.counts),
            f"p_{rule.low}_to_{rule.high}": posterior.small(rule),
        }
        if original is not None:
            figures[f"p_true_{MARK}"] = posterior.probability(original.counts)
        for name, values in figures.items():
            head.append(f"{who}_{name}")
            columns.append(
                _shown(first, values) if name == "p_published" else values.reshape(-1).tolist()
            )
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    for key, row in enumerate(zip(*columns, strict=True)):
        if key % 4096 == 0:
            progress.report("writing the rows", key / domain.size)
        writer.writerow([*domain.labels(domain.unflat(key)), *row])
    return out.getvalue().encode()


def _shown(posterior: Posterior, values: np.ndarray) -> list[Any]:
    """Cell by cell, nothing where no count is published."""
    flat = values.reshape(-1).tolist()
    if posterior.hidden is None:
        return flat
    hidden = posterior.hidden.reshape(-1).tolist()
    return ["" if gone else value for value, gone in zip(flat, hidden, strict=True)]


def cell_csv(posteriors: dict[str, Posterior], index: Index, *, true: int | None) -> bytes:
    """A row per possible count of one cell: prior and posterior of each person."""
    told = {who: p.distribution(index) for who, p in posteriors.items()}
    values = np.unique(np.concatenate([v for v, _ in told.values()]))
    first = next(iter(posteriors.values()))
    head = [*first.published.domain.names, "count", "is_published"]
    if true is not None:
        head.append(f"is_true_{MARK}")
    columns: list[list[float]] = []
    for who, posterior in posteriors.items():
        own, chances = told[who]
        head += [f"{who}_prior", f"{who}_posterior"]
        columns.append(posterior.prior_distribution(index, values).tolist())
        wide = np.zeros(len(values))
        wide[np.searchsorted(values, own)] = chances
        columns.append(wide.tolist())
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    labels = first.published.domain.labels(index)
    for number, value in enumerate(values.tolist()):
        flags = [int(value == published_count(first, index))]
        if true is not None:
            flags.append(int(value == true))
        writer.writerow([*labels, value, *flags, *(column[number] for column in columns)])
    return out.getvalue().encode()


def draws_csv(summary: AnalysisSummary, *, true: float | None) -> bytes:
    """A row per drawn table: the analysis on it; on the published table and, in the house, the true one."""
    name = f"original_{MARK}"
    head = ["draw", "value", "published"] + ([name] if true is not None else [])
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    rest = [summary.published] + ([true] if true is not None else [])
    for number, value in enumerate(summary.values.tolist(), 1):
        writer.writerow([number, value, *rest])
    return out.getvalue().encode()


class PosteriorFiles(QObject):
    """The export actions of the check page."""

    def __init__(self, page: PosteriorShown) -> None:
        super().__init__(page)
        self._page = page
        self.document = page.document
        # One each: a file that is being written is not given up for another one.
        self._writing: dict[str, Question[None]] = {
            kind: Question(self, page.document.jobs, lambda _: None, page.show_error)
            for kind, *_ in KINDS
        }
        self.actions: dict[str, QAction] = {}
        for kind, label, stem, suffix in KINDS:
            action = QAction(label, page)
            action.triggered.connect(
                lambda _=False, k=kind, s=stem, x=suffix: self._ask(k, stem=s, suffix=x)
            )
            self.actions[kind] = action

    def confidential(self, kind: str) -> bool:
        """Whether the file would hold anything of the original, as the view is now."""
        view = self._page.view()
        if view is None or view.original is None:
            return False
        return self._page.figure.house if kind.startswith("map") else True

    def _ask(self, kind: str, *, stem: str, suffix: str) -> None:
        if not self._possible(kind):
            return
        name = f"{stem}-{MARK}.{suffix}" if self.confidential(kind) else f"{stem}.{suffix}"
        # The dialog asks before overwriting the very name that was typed, no other.
        ask_export(self._page, name, suffix, lambda path: self.write(kind, path, overwrite=True))

    def missing(self, kind: str) -> InfeasibleError | None:
        """Why a kind cannot be written as the page is now."""
        if self._page.view() is None:
            return InfeasibleError(
                "the posterior is not known yet", hint="export again once it is shown"
            )
        if kind.startswith("cell") and self.document.selection is None:
            return InfeasibleError("no cell is selected", hint="select one on the map first")
        if kind.startswith("draws") and self._page.draws.result is None:
            return InfeasibleError("nothing was drawn yet", hint="draw on the page first")
        return None

    def _possible(self, kind: str) -> bool:
        error = self.missing(kind)
        if error is not None:
            self.document.error_raised.emit(error, self._page.name)
        return error is None

    def write(self, kind: str, path: Path, *, overwrite: bool = False) -> None:
        """Write one of the ``KINDS``; errors appear on the page."""
        if not self._possible(kind):
            return
        if self.confidential(kind) and marked(path) != path:
            path, overwrite = marked(path), False
        make = self.content(kind)
        self._writing[kind].ask(
            f"writing {path.name}",
            lambda progress: write_bytes(path, make(progress), overwrite=overwrite),
        )

    def content(self, kind: str) -> Callable[[Progress], bytes]:
        """What makes the bytes of a kind, beside the window; widgets draw theirs at once."""
        view, selection = self._page.view(), self.document.selection
        assert view is not None
        if kind == "table_csv":
            return partial(table_csv, self._known(), rule=view.rule, original=view.original)
        if kind.startswith("map"):
            sheet = self._map(self._page.figure.label_for(view.rule), self._caption(kind))
            return lambda _: sheet.svg() if kind == "map_svg" else sheet.png()
        if kind.startswith("draws"):
            data = self._draws(kind)
        elif kind == "cell_csv":
            assert selection is not None
            true = None if view.original is None else view.original[selection]
            data = cell_csv(self._known(), selection, true=true)
        else:
            histogram = self._page.cell.histogram
            write = histogram.svg if kind == "cell_svg" else histogram.png
            data = write(caption=self._caption(kind))
        return lambda _: data

    def _map(self, name: str, caption: str) -> Sheet:
        page = self._page
        shown, figure = page.map, page.figure
        assert shown.layout_shown is not None
        picture = HeatFigure(
            name,
            shown.layout_shown,
            shown.values_shown,
            text=figure.text,
            top=shown.top,
            flip=shown.flip,
        )
        font = figure_font(page.font())
        return picture.sheet(font=font, dpi=page.logicalDpiX(), caption=caption)

    def _draws(self, kind: str) -> bytes:
        draws = self._page.draws
        assert draws.result is not None
        if kind == "draws_csv":
            return draws_csv(draws.result[0], true=draws.true_value())
        write = draws.plot.svg if kind == "draws_svg" else draws.plot.png
        return write(caption=self._caption(kind))

    def _known(self) -> dict[str, Posterior]:
        found = {who: self.document.known_posterior(who) for who in self._page.priors}
        return {who: posterior for who, posterior in found.items() if posterior is not None}

    def _caption(self, kind: str) -> str:
        view, selection = self._page.view(), self.document.selection
        assert view is not None
        posterior = view.posterior
        parts = [f"{MARK}: shows the original."] if self.confidential(kind) else []
        title = "" if self.document.release is None else self.document.release.title
        if title:
            parts.append(f"{title}.")
        if kind.startswith("map"):
            layout = self._page.map.layout_shown
            domain = posterior.published.domain
            if layout is not None and layout.placement.layers:
                layer = ", ".join(
                    f"{n} = {domain[n].categories[layout.layer[domain.axis(n)]]}"
                    for n in layout.placement.layers
                )
                parts.append(f"Layer {layer}.")
            parts.append(f"{self._page.figure.meaning} Prior: {posterior.prior.label}.")
        elif kind.startswith("draws"):
            parts.append(self._page.draws.sentence.text())
        elif selection is not None:
            true = None if view.original is None else view.original[selection]
            name = posterior.published.domain.cell_text(selection)
            parts += [f"Cell {name}.", cell_sentence(posterior, selection, true=true)]
        found = self.document.known_belief(self._page.who)
        left_out = "" if found is None else found.left_out
        originals = self.document.originals(self._page.who)
        return " ".join([*parts, way_sentence(posterior, originals, left_out)])
