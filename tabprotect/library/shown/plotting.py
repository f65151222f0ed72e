"""Figures of beliefs, comparisons and query spaces, drawn with matplotlib: those of the window.

matplotlib comes with ``pip install 'tabprotect[plots]'``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.assessment.comparing.comparison import Comparison
from tabprotect.engine.assessment.comparing.over_seeds import Spread
from tabprotect.engine.assessment.measure import Measure
from tabprotect.engine.errors import InputError
from tabprotect.engine.query_space.lattice import Lattice, Query, names_joined
from tabprotect.engine.query_space.release_set import ReleaseSet
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.messages import joined, message
from tabprotect.languages.nearest import closest_match
from tabprotect.languages.translation import tr, translate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INKS = {
    "accent": "#00598a",
    "text": "#1d1f21",
    "quiet": "#5f6368",
    "plus": "#00639c",
    "minus": "#a84800",
    "released": "#00704f",
    "unreleasable": "#8d3f70",
    "at_risk": "#8a5a00",
    "base": "#ffffff",
}
"""The window's colours by their meaning, on a light ground."""

SERIES = ("plus", "minus", "released", "unreleasable", "at_risk", "quiet", "text")
MARKERS = "os^DPv*h<Xp>"
"""A colour and a shape for each method: either alone tells them apart."""

TAIL = 5e-4
"""Outer counts that are less likely are left out of the picture."""

MOST_NODES = 300
"""Sub-tables that are drawn at most."""


def _matplotlib() -> ModuleType:
    try:
        # Late: it takes longer to load than all the rest.
        import matplotlib.pyplot as plt
    except ImportError:
        raise InputError(
            message("matplotlib is not installed"),
            hint=message("install it: pip install 'tabprotect[plots]'"),
        ) from None
    return plt


def axes(given: Axes | None, wide: float = 6.4, tall: float = 4.0) -> Axes:
    """The axes to draw on, of a figure of its own where none are given.

    Raises
    ------
    InputError
        Where matplotlib is not installed.
    """
    if given is not None:
        return given
    _, made = _matplotlib().subplots(figsize=(wide, tall), layout="constrained")
    found: Axes = made
    return found


def cell_histogram(
    ax: Axes, values: Ints, chances: Floats, prior: Floats, *, published: int | None, title: str
) -> None:
    """The posterior of one cell: a bar for each count, its prior as outline, the published one marked."""
    seen = chances >= TAIL
    ax.bar(values[seen], chances[seen], width=0.8, color=INKS["accent"])
    words = tr("assumed before")
    outline = ax.bar(values[seen], prior[seen], width=0.8, color="none", label=words)
    for bar in outline:
        bar.set(edgecolor=INKS["text"], linestyle=":", linewidth=1.2)
    ax.set_ylim(0.0, 1.15 * float(chances.max()))
    if published is not None:
        words = tr("published {published}", published)
        ax.axvline(published, color=INKS["text"], linestyle="--", linewidth=1.2, label=words)
    ax.legend(frameon=False)
    ax.set_xlabel(tr("true count"))
    ax.set_ylabel(tr("probability"))
    ax.set_title(translate(title))
    ax.locator_params(axis="x", integer=True)


def cell_map(ax: Axes, domain: Domain, values: Floats, *, title: str, top: float | None, flip: bool) -> None:
    """A number for each cell as a shade: the last variable across, the others down.

    Parameters
    ----------
    top
        The end of the scale; by default the largest value.
    flip
        Small numbers are the dark ones.
    """
    *down, across = domain.variables
    grid = values.reshape(-1, len(across.categories))
    end = float(values.max(initial=0.0)) if top is None else top
    cmap = "Blues_r" if flip else "Blues"
    picture = ax.pcolormesh(grid, cmap=cmap, vmin=0.0, vmax=end or 1.0, edgecolors="white")
    ax.invert_yaxis()
    ax.set_xticks(np.arange(grid.shape[1]) + 0.5, list(across.categories))
    rows = [""]
    for variable in down:
        rows = [f"{row} {c}".strip() for row in rows for c in variable.categories]
    every = ceil(len(rows) / 40)
    ax.set_yticks(np.arange(0, len(rows), every) + 0.5, rows[::every])
    ax.set_xlabel(across.name)
    ax.set_ylabel(joined((v.name for v in down), " \u00d7 "))
    ax.set_title(translate(title))
    if ax.figure is not None:
        ax.figure.colorbar(picture, ax=ax)


def risk_utility_map(ax: Axes, found: Comparison, risk: str, utility: str) -> None:
    """A point for each run, each setting's mean with its spread, and the front.

    To the right is more private, upwards more useful: an axis whose measure is better when low runs
    backwards.

    Raises
    ------
    InputError
        For a measure that was not computed.
    """
    by_name = {m.name: m for m in found.measures}
    for name in (risk, utility):
        if name not in by_name:
            raise InputError(
                message("{name} was not computed", repr(name)),
                hint=closest_match(name, tuple(by_name)) or message("there are {those}", ", ".join(by_name)),
            )
    methods = list(dict.fromkeys(c.spec.method for c in found.configurations))
    for number, configuration in enumerate(found.configurations):
        kind = methods.index(configuration.spec.method)
        ink = INKS[SERIES[kind % len(SERIES)]]
        marker = MARKERS[kind % len(MARKERS)]
        spreads = [found.summaries[number][name] for name in (risk, utility)]
        runs = [run for run in found.runs if run.configuration == number]
        points = [[run.values.get(name) for run in runs] for name in (risk, utility)]
        across, up = (np.array([np.nan if v is None else v for v in p], dtype=float) for p in points)
        ax.scatter(across, up, s=14, marker=marker, facecolors="none", edgecolors=ink, alpha=0.45)
        x, y = spreads
        if x is None or y is None:
            continue
        ax.errorbar(
            [x.mean],
            [y.mean],
            xerr=_reach(x),
            yerr=_reach(y),
            fmt=marker,
            color=ink,
            markersize=9,
            markeredgecolor=INKS["base"],
            label=f"{number + 1} {configuration.label}",
        )
    front = [found.summaries[c] for c in found.front(risk, utility)]
    means = sorted((a.mean, b.mean) for s in front if (a := s[risk]) is not None and (b := s[utility]))
    if means:
        ax.step(*zip(*means, strict=True), where="post", color=INKS["quiet"], linestyle="--")
    _name_axes(ax, by_name[risk], by_name[utility])
    ax.legend(frameon=False, fontsize="small")


def _name_axes(ax: Axes, risk: Measure, utility: Measure) -> None:
    """Titles, and the direction in which each axis runs."""
    for measure, way, label, turn in (
        (risk, message("more private"), ax.set_xlabel, ax.invert_xaxis),
        (utility, message("more useful"), ax.set_ylabel, ax.invert_yaxis),
    ):
        title = translate(measure.label)
        label(tr("{title} ({unit})\n{way} \u2192", title, translate(measure.unit), translate(way)))
        if not measure.higher_is_better:
            turn()


def _reach(spread: Spread) -> list[list[float]]:
    """Return how far a spread reaches below and above its mean."""
    below, above = spread.mean - spread.low, spread.high - spread.mean
    return [[max(below, 0.0)], [max(above, 0.0)]]


def lattice(ax: Axes, state: ReleaseSet) -> None:
    """The query space: sub-tables by dimension, the grand total on top, and what may go out.

    Raises
    ------
    InputError
        For a query space of too many sub-tables to be drawn.
    """
    space = state.evidence.lattice
    if space.size > MOST_NODES:
        raise InputError(
            message("{size:,} sub-tables are too many to be drawn", space.size),
            hint=message("take a margin: at most {most} sub-tables", MOST_NODES),
        )
    places = _places(space)
    for query, (x, y) in places.items():
        for finer, (right, below) in places.items():
            if query != finer and query & finer == query and below == y - 1:
                ax.plot([x, right], [y, below], color="#c9c9c4", linewidth=0.6, zorder=1)
    ends = {*state.released, *state.unreleasable}
    told_of: set[str] = set()
    for query, (x, y) in places.items():
        status = state.status(query)
        fill, ink, edge = _LOOKS[status]
        box = {
            "boxstyle": "round,pad=0.35",
            "facecolor": INKS[fill],
            "edgecolor": INKS["text"] if query in ends and status == "released" else INKS[edge],
            "linewidth": 2.6 if query in ends else 1.0,
            "linestyle": "--" if status == "unknown" else "-",
            "hatch": "///" if status == "unreleasable" else None,
        }
        words = names_joined(space.names_of(query)) or tr("total")
        ax.text(x, y, words, ha="center", va="center", color=INKS[ink], bbox=box, fontsize=8)
        if box["hatch"]:
            # Letters over hatching stand on a plain ground.
            plate = {"boxstyle": "square,pad=0.05", "facecolor": INKS[fill], "edgecolor": "none"}
            ax.text(x, y, words, ha="center", va="center", color=INKS[ink], bbox=plate, fontsize=8)
        if status not in told_of:
            told_of.add(status)
            ax.scatter([], [], marker="s", s=60, facecolor=INKS[fill], edgecolor=INKS[edge],
                       hatch=box["hatch"], label=translate(message(status)))  # fmt: skip
    ax.set_xlim(-0.05, 1.05)
    ax.set_ylim(min(y for _, y in places.values()) - 0.6, 0.6)
    ax.set_axis_off()
    ax.legend(frameon=False, ncols=len(told_of), loc="lower center", bbox_to_anchor=(0.5, -0.06))


_LOOKS = {
    "released": ("released", "base", "released"),
    "candidate": ("base", "text", "quiet"),
    "unreleasable": ("base", "text", "unreleasable"),
    "unknown": ("base", "quiet", "quiet"),
}
"""Status -> fill, letters and edge."""


def _places(space: Lattice) -> dict[Query, tuple[float, float]]:
    """Return where each sub-table stands: across from 0 to 1, down by its number of bits."""
    rows: dict[int, list[Query]] = {}
    for query in space.every.tolist():
        rows.setdefault(query.bit_count(), []).append(query)
    return {
        query: ((n + 1) / (len(held) + 1), -float(row))
        for row, held in rows.items()
        for n, query in enumerate(_in_order(space, held))
    }


def _in_order(space: Lattice, held: Sequence[Query]) -> list[Query]:
    return sorted(held, key=lambda query: tuple(space.names.index(n) for n in space.names_of(query)))


def lattice_size(state: ReleaseSet) -> tuple[float, float]:
    """Inches that a query space takes, wide and tall."""
    space = state.evidence.lattice
    rows = max(space.variables, 2)
    widest = space.size / sqrt(rows)
    return min(max(6.4, 0.5 * widest), 24.0), 0.9 * (rows + 1)
