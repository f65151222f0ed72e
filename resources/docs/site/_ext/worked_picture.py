"""One picture of a method at work: the original, what is published, what readers believe.

The same few counts for every method, so that pages can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

import tabprotect as tp
from tabprotect.engine.assessment.comparing.one_run import release_once
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.library.shown.plotting import INKS

SEED = 93271650412588301774620951338420667189
REGIONS, AGES = ("north", "south", "islands"), ("young", "middle", "old")
COUNTS = ((2, 9, 14), (11, 1, 6), (7, 12, 3))


def table_of(rows: int = 3, columns: int = 3) -> tp.Table:
    """People of some regions by age: few small counts."""
    cells = [(REGIONS[i], AGES[j], COUNTS[i][j]) for i in range(rows) for j in range(columns)]
    return tp.Table.from_frame(pd.DataFrame(cells, columns=["region", "age", "count"]))


def hidden_cells(published: PublishedTable) -> np.ndarray:
    """Which counts of a table are not shown."""
    mask = published.suppressed
    return np.zeros(published.table.domain.shape, dtype=bool) if mask is None else mask


def released(method: str, shape: tuple[int, int] = (3, 3), **settings: object) -> Release:
    """One draw of a method, as it is: what a gate would say of it is another matter."""
    problem, plugin = Problem(table_of(*shape).table), methods()[method]
    values = plugin.resolve_for(problem, settings)
    return release_once(problem, plugin, values, SEED).release


def worked(
    method: str, shape: tuple[int, int] = (3, 3), *, draws: int | None = None, **settings: object
) -> None:
    """Draw the picture, and print what it rests on."""
    release = released(method, shape, **settings)
    belief = tp.infer(release, draws=draws)
    original = table_of(*shape).counts
    main, named = release.tables[0], (REGIONS[: shape[0]], AGES[: shape[1]])
    figure, (left, middle, right) = plt.subplots(
        1, 3, figsize=(9, 1.0 + 0.62 * shape[0]), layout="constrained"
    )
    _grid(left, original, *named, "original (staff only)", small=True)
    if main.table.domain.shape == original.shape:
        shown = [
            ["×" if hidden else str(count) for count, hidden in zip(*row, strict=True)]
            for row in zip(main.table.counts, hidden_cells(main), strict=True)
        ]
        _grid(middle, shown, *named, "published", before=original)
    else:
        names = [v.categories for v in main.table.domain.variables]
        columns = names[1] if len(names) > 1 else ("count",)
        counts = main.table.counts.reshape(len(names[0]), -1)
        _grid(middle, counts, names[0], columns, "published")
    _beliefs(right, belief, original)
    _ = figure
    print(_rests_on(belief))


def worked_magnitudes(method: str, rule: str) -> None:
    """Draw turnover before and after a method, and by how much each sum was changed."""
    by = ["section", "region"]
    table = tp.tabulate(
        "example:fictitious-businesses", by=by, measure="turnover", holding="ent", unit="unit"
    )
    protection = tp.protect(table, method, rule=rule)
    true, shown = (
        frame.pivot(index="section", columns="region", values="value").drop("Total")
        for frame in (table.to_frame(), protection.to_frame())
    )
    columns = ["N1", "S1", "W1", "Total"]
    true, shown = true[columns], shown[columns]
    figure, axes = plt.subplots(1, 3, figsize=(9, 2.9), layout="constrained")
    panels = {
        "in thousands (staff only)": (true / 1000).map("{:,.1f}".format),
        "published": (shown / 1000).map("{:,.1f}".format),
        "change in %": (100 * (shown / true - 1)).map("{:+.1f}".format),
    }
    for place, (title, values) in zip(axes, panels.items(), strict=True):
        _grid(place, values.to_numpy().tolist(), list(true.index), columns, title)
    _ = figure
    print(fill(protection.sentence, 80))


def beside(rows: str, **files: tuple[str, str]) -> None:
    """Draw a table of each bundle, its rows and columns by two variables, with the sums of the rows."""
    shown = [_with_sums(tp.open_release(file), rows, by) for file, by in files.values()]
    figure, places = plt.subplots(
        1, len(shown), figsize=(9, 0.8 + 0.4 * len(shown[0][0])), layout="constrained",
        width_ratios=[2 + len(columns) for _, _, columns in shown],
    )  # fmt: skip
    for axes, title, (counts, names, columns) in zip(places, files, shown, strict=True):
        plain = [[*row[:-1], ""] for row in counts]
        _grid(axes, counts, names, columns, title.replace("_", " "), before=plain)
    _ = figure


def _with_sums(release: Release, rows: str, by: str) -> tuple[list[list[str]], Sequence[str], Sequence[str]]:
    """Counts of a release by two variables, and the sum of each row: as published, or added up."""
    main = release.tables[0]
    domain, counts = main.table.domain, np.where(hidden_cells(main), -1, main.table.counts)
    at = [domain.names.index(name) for name in (rows, by)]
    counts = counts.sum(axis=tuple(k for k in range(domain.ndim) if k not in at))
    sums = [one.table.counts for one in release.tables if one.table.domain.names == (rows,)]
    ends = sums[0] if sums else counts.sum(axis=1)
    texts = [
        ["×" if count < 0 else f"{count:,}" for count in (*row, end)]
        for row, end in zip(counts, ends, strict=True)
    ]
    names, columns = (domain.variables[k].categories for k in at)
    return texts, names, (*columns, "all")


def _grid(
    axes: Axes,
    counts: Sequence[Sequence[object]],
    rows: Sequence[str],
    columns: Sequence[str],
    title: str,
    *,
    small: bool = False,
    before: Sequence[Sequence[object]] | None = None,
) -> None:
    _frame(axes, rows, columns, title)
    for i, row in enumerate(counts):
        for j, count in enumerate(row):
            changed = before is not None and str(count) != str(before[i][j])
            ink = INKS["at_risk"] if small and count in (1, 2) else INKS["text"]
            axes.text(
                j, i, str(count), ha="center", va="center",
                color=INKS["accent"] if changed else ink,
                weight="bold" if changed or ink == INKS["at_risk"] else "normal",
            )  # fmt: skip


def _beliefs(axes: Axes, belief: tp.Belief, original: np.ndarray) -> None:
    """In every cell what readers believe in the true count, darker for more."""
    rows, columns = original.shape
    _frame(axes, REGIONS[:rows], AGES[:columns], "belief in the true count, in 100")
    chances = np.zeros(original.shape)
    for i, j in np.ndindex(original.shape):
        found = belief.distribution(region=REGIONS[i], age=AGES[j])
        chances[i, j] = found.get(int(original[i, j]), 0.0)
    axes.imshow(chances, cmap="Blues", vmin=0, vmax=1.15, aspect="auto")
    for i, j in np.ndindex(original.shape):
        dark = chances[i, j] > 0.6
        axes.text(j, i, f"{100 * chances[i, j]:.0f}", ha="center", va="center",
                  color="white" if dark else INKS["text"])  # fmt: skip


def _frame(axes: Axes, rows: Sequence[str], columns: Sequence[str], title: str) -> None:
    axes.set_title(title, fontsize=10, loc="left")
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xticks(range(len(columns)), columns, fontsize=8)
    axes.set_yticks(range(len(rows)), rows, fontsize=8)
    axes.tick_params(length=0, pad=5)
    axes.xaxis.tick_top()
    for side in axes.spines.values():
        side.set_color(INKS["quiet"])
        side.set_linewidth(0.5)


def _rests_on(belief: tp.Belief) -> str:
    if belief.way == "exact":
        many = f" over {belief.originals:,} tables that could be behind it" if belief.originals else ""
        return f"Worked out exactly{many}."
    error = f", within {100 * belief.error:.1f} in 100" if belief.error else ""
    return f"Estimated from drawn originals{error}."
