"""The quality of published tables in figures: before and after in the house, or what a release alone tells.

The figures of the house compare the original with what was published: CONFIDENTIAL. Those for readers follow
from the bundle: what is published, and by its posterior how far that may be from the truth.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.assessment.distances import hellinger, ranks
from tabprotect.engine.assessment.figure import NotComputable
from tabprotect.engine.bundle.tables.about import largest_change
from tabprotect.engine.bundle.tables.intervals import LEVEL, Doubt
from tabprotect.engine.bundle.verify import readable
from tabprotect.engine.disclosure.counts_verdict import no_change_of
from tabprotect.engine.errors import InfeasibleError, InputError
from tabprotect.engine.posterior.columns import PosteriorColumns
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.problem import Protected
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.subtables import groupings_of
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.report import svg_figures
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.languages.messages import joined, message

SIZES = ((1, 2), (3, 5), (6, 10), (11, 20), (21, 100), (101, None))
"""Classes of true counts, first and last, by which relative changes are told."""

DECIMALS = 3
"""Of figures that are no whole numbers."""

Value = int | float | None


def _text(value: Value) -> str:
    return "" if value is None else f"{value:,.{DECIMALS}f}" if isinstance(value, float) else f"{value:,}"


@dataclass(frozen=True)
class Line:
    """A figure: its name in files, what it is, and its value; two of them before and after.

    ``None`` where it is not defined: of no cell, or unknown.
    """

    name: str
    label: str
    value: Value
    after: Value = None
    paired: bool = False

    @property
    def columns(self) -> list[tuple[str, Value]]:
        """Name and value of each column that it has in a row."""
        if self.paired:
            return [(f"{self.name}_before", self.value), (f"{self.name}_after", self.after)]
        return [(self.name, self.value)]

    @property
    def before_text(self) -> str:
        """The value as a page has it."""
        return _text(self.value)

    @property
    def after_text(self) -> str:
        """The value after, as a page has it."""
        return _text(self.after)


@dataclass(frozen=True)
class Quality:
    """One published table in figures.

    Attributes
    ----------
    file, title, table, method
        The file that it is in, the title of the release, the variables, the method's label.
    lines
        The figures.
    margins
        Of each margin over one variable: its name, mean and largest absolute change. Confidential.
    pictures
        Charts with their headings.
    confidential
        Whether the original has a part in it.
    note
        Why figures are missing; empty where none is.
    """

    file: str
    title: str
    table: str
    method: str
    lines: tuple[Line, ...]
    margins: tuple[tuple[str, float, int], ...] = ()
    pictures: tuple[tuple[str, Markup], ...] = ()
    confidential: bool = False
    note: str = ""

    @property
    def row(self) -> dict[str, str | Value]:
        """One row of a sheet: name of the column and value."""
        named: dict[str, str | Value] = {"file": self.file, "title": self.title}
        named |= {"table": self.table, "method": self.method}
        return named | dict(pair for line in self.lines for pair in line.columns) | {"note": self.note}


def of_original(file: str, protected: Protected) -> Iterator[Quality]:
    """Each published table of counts beside what it is without protection. CONFIDENTIAL.

    Raises
    ------
    InputError
        For magnitudes.
    """
    release, problem = protected.release, protected.record.problem
    _check_counts(release)
    groupings = groupings_of(problem.table.domain, release.mechanism.values)
    method = methods()[release.mechanism.method]
    weighted, no_change = method.weighted(release.mechanism.values), _no_change(release)
    for published in release.tables:
        domain = published.table.domain
        truth = problem.unprotected(domain, groupings, weighted=weighted).counts
        shown = ~published.hidden
        moved = np.where(shown, published.table.counts - truth, 0)
        margins = tuple(
            (name, float(np.abs(sums).mean()), int(np.abs(sums).max()))
            for axis, name in enumerate(domain.names)
            if domain.ndim > 1 and shown.all()
            for sums in [moved.sum(axis=tuple(n for n in range(domain.ndim) if n != axis))]
        )
        yield Quality(
            file,
            release.title,
            joined(domain.names, " x ") or message("total"),
            method.label,
            (
                *_before_and_after(truth, published, problem.at_risk),
                *_changes(truth[shown], moved[shown]),
                no_change,
            ),
            margins,
            (
                (message("Cells by the change of their count"), svg_figures.change_bars(moved[shown])),
                (message("Cells by published count"), svg_figures.size_bars(published)),
            ),
            confidential=True,
        )


def of_release(file: str, release: Release, progress: Progress = SILENT) -> Iterator[Quality]:
    """Each published table of counts by what the release alone tells.

    Raises
    ------
    InputError
        For magnitudes.
    """
    _check_counts(release)
    try:
        doubt: Doubt | None = Doubt(release, progress)
        note = ""
    except InfeasibleError as error:
        doubt, note = None, error.message
    limit, no_change = largest_change(release), _no_change(release)
    for number, published in enumerate(release.tables):
        try:
            law = None if doubt is None else doubt.law(number)
            expected = () if doubt is None else _expected(law, published)
        except InfeasibleError as error:
            expected, note = (), error.message
        yield Quality(
            file,
            release.title,
            joined(published.table.domain.names, " x ") or message("total"),
            methods()[release.mechanism.method].label,
            (
                *(line for line in _published(published)),
                Line("largest_change_at_most", message("Largest change, at most"), limit),
                *expected,
                no_change,
            ),
            (),
            ((message("Cells by published count"), svg_figures.size_bars(published)),),
            note=note,
        )


def _check_counts(release: Release) -> None:
    if release.magnitudes:
        raise InputError(
            message("the quality sheet is of counts, and this is a release of magnitudes"),
            hint=message("leave it out"),
        )


def _no_change(release: Release) -> Line:
    """The chance that a draw changes nothing at all, by the kept sums alone."""
    found = no_change_of(readable(release), release, SILENT)
    return Line("no_change_chance", message("Chance that a draw changes nothing"), found)


def _figures(counts: Ints, small: Bools | None) -> dict[str, Value]:
    zeros = int((counts == 0).sum())
    return {
        "zeros": zeros,
        "zero_share": zeros / counts.size if counts.size else None,
        "total": int(counts.sum()),
        "smallest": int(counts.min()) if counts.size else None,
        "largest": int(counts.max()) if counts.size else None,
        **({} if small is None else {"small_counts": int(small.sum())}),
    }


LABELS: Mapping[str, str] = {
    "zeros": message("Zeros"),
    "zero_share": message("Share of zeros"),
    "total": message("Sum of the cells"),
    "smallest": message("Smallest count"),
    "largest": message("Largest count"),
    "small_counts": message("Small counts"),
}


def _cells(published: PublishedTable) -> tuple[Line, Line]:
    hidden = int(published.hidden.sum())
    return (
        Line("cells", message("Cells"), published.table.domain.size),
        Line("hidden", message("Hidden cells"), hidden),
    )


def _before_and_after(truth: Ints, published: PublishedTable, rule: SmallCount) -> Iterator[Line]:
    shown = published.table.counts[~published.hidden]
    before, after = _figures(truth.reshape(-1), rule.mask(truth)), _figures(shown, rule.mask(shown))
    yield from _cells(published)
    for name, label in LABELS.items():
        yield Line(name, label, before[name], after[name], paired=True)


def _published(published: PublishedTable) -> Iterator[Line]:
    yield from _cells(published)
    for name, value in _figures(published.table.counts[~published.hidden], None).items():
        yield Line(name, LABELS[name], value)


def _changes(truth: Ints, moved: Ints) -> Iterator[Line]:
    """What was done to the cells that are shown."""
    size, away = truth.size, np.abs(moved)

    def mean(values: Ints | Floats) -> float | None:
        return float(values.mean()) if values.size else None

    yield Line("mean_change", message("Mean change"), mean(moved))
    yield Line("mean_absolute_change", message("Mean absolute change"), mean(away))
    yield Line("largest_change", message("Largest change"), int(away.max()) if size else None)
    yield Line("unchanged_share", message("Share of cells unchanged"), mean(away == 0))
    for first, last in SIZES:
        inside = (truth >= first) & ((truth <= last) if last is not None else True)
        label = (
            message("Relative change of counts over {first}", first - 1)
            if last is None
            else message("Relative change of counts of {first} to {last}", first, last)
        )
        name = f"relative_change_{first}_{last}" if last is not None else f"relative_change_over_{first - 1}"
        yield Line(name, label, mean(away[inside] / truth[inside]))
    published = truth + moved
    try:
        distance: float | None = 1 - hellinger(truth.astype(float), published.astype(float))[0]
    except NotComputable:
        distance = None
    yield Line("hellinger_distance", message("Hellinger distance"), distance)
    yield Line("rank_correlation", message("Rank correlation"), _rank_correlation(truth, published))


def _rank_correlation(truth: Ints, published: Ints) -> float | None:
    true, other = (ranks(counts.astype(float)) for counts in (truth, published))
    true, other = true - true.mean(), other - other.mean()
    size = float(np.sqrt((true**2).sum() * (other**2).sum()))
    return float((true * other).sum()) / size if size else None


def _expected(law: Posterior | None, published: PublishedTable) -> tuple[Line, ...]:
    """What readers expect of the cells; ``None`` for a table that is exact."""
    counts, shown = published.table.counts.reshape(-1), ~published.hidden.reshape(-1)
    away = width = np.zeros(counts.size)
    same = np.ones(counts.size)
    if law is not None:
        order = [law.domain.names.index(name) for name in published.table.domain.names]
        rows = PosteriorColumns.of(law, np.arange(law.domain.size))
        stated = np.transpose(published.table.counts, np.argsort(order)).reshape(-1)
        far = np.abs(rows.counts - stated[rows.cells])
        low, high = law.interval(LEVEL)
        figures = (
            np.bincount(rows.cells, rows.chances * far, minlength=counts.size),
            np.bincount(rows.cells, rows.chances * (far == 0), minlength=counts.size),
            (high - low).reshape(-1).astype(float),
        )
        away, same, width = (
            np.transpose(values.reshape(law.domain.shape), order).reshape(-1) for values in figures
        )
    any_shown = bool(shown.any())
    return (
        Line(
            "expected_absolute_change",
            message("Expected absolute change"),
            float(away[shown].mean()) if any_shown else None,
        ),
        Line(
            "expected_unchanged_share",
            message("Expected share of cells unchanged"),
            float(same[shown].mean()) if any_shown else None,
        ),
        Line("mean_interval_width", message("Mean width of the 90 % intervals"), float(width.mean())),
        Line("widest_interval", message("Width of the widest"), int(width.max(initial=0))),
    )
