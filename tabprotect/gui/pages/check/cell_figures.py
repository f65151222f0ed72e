"""What can be told about every cell from a posterior, and which cells are most exposed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Bools, Floats
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.table import Table
from tabprotect.gui.look.theme import chance_number, count_text, number_text
from tabprotect.languages.messages import message

LEVEL = 0.9
"""The probability of the intervals that are shown."""


@dataclass(frozen=True)
class View:
    """The values that a figure may be computed from.

    Attributes
    ----------
    posterior
        Of the release shown.
    rule
        Which counts are small.
    original
        The confidential table; ``None`` in public view, always.
    """

    posterior: Posterior
    rule: SmallCount
    original: Table | None

    @property
    def at_risk(self) -> Bools | None:
        """The cells that are small in the original, where there are some and they may be told."""
        found = None if self.original is None else self.rule.mask(self.original.counts)
        return found if found is not None and found.any() else None

    @cached_property
    def true(self) -> Floats:
        """P(true count = the original) of each cell; in the house only."""
        assert self.original is not None
        return self.posterior.probability(self.original.counts)

    @cached_property
    def small(self) -> Floats:
        """P(small count) of each cell."""
        return self.posterior.small(self.rule)


@dataclass(frozen=True)
class CellFigure:
    """One number per cell.

    Attributes
    ----------
    name, label
        In code and for people; ``{low}`` and ``{high}`` of the rule are filled in.
    meaning
        In one sentence, under the map.
    compute
        The numbers, shape of the table.
    text
        One number for people.
    top
        End of the colour scale; ``None`` for the largest number there is.
    house
        Whether it needs the original.
    flip
        Whether small numbers are the exposed ones: dark is exposed on every map.
    """

    name: str
    label: str
    meaning: str
    compute: Callable[[View], npt.NDArray[Any]]
    text: Callable[[float], str]
    top: float | None = None
    house: bool = False
    flip: bool = False

    def label_for(self, rule: SmallCount) -> str:
        """The label with the rule's numbers."""
        return message(self.label, words=rule.words)


def _whole(value: float) -> str:
    return count_text(round(value))


FIGURES: tuple[CellFigure, ...] = (
    CellFigure(
        "true",
        message("How sure a reader would be"),
        message("Of the true count, in 100; 95: known."),
        lambda view: view.true,
        chance_number,
        1.0,
        house=True,
    ),
    CellFigure(
        "entropy",
        message("What is left open"),
        message("What a reader still does not know, in bits; at 0 (dark) the count is certain."),
        lambda view: view.posterior.entropy,
        number_text,
        flip=True,
    ),
    CellFigure(
        "small",
        message("Chance of {words}"),
        message("How likely a reader thinks that the true count is small, in 100."),
        lambda view: view.small,
        chance_number,
        1.0,
    ),
    CellFigure(
        "published",
        message("Chance that it was not changed"),
        message("How likely a reader thinks that the cell was not changed, in 100."),
        lambda view: view.posterior.probability(view.posterior.published.counts),
        chance_number,
        1.0,
    ),
    CellFigure(
        "mean",
        message("Count on average"),
        message("The mean of the counts a reader thinks possible."),
        lambda view: view.posterior.mean,
        number_text,
    ),
    CellFigure(
        "mode",
        message("Most likely count"),
        message("The count a reader thinks most likely."),
        lambda view: view.posterior.mode,
        _whole,
    ),
    CellFigure(
        "width",
        message("How many counts are likely"),
        message("How far apart the counts lie that hold 90 in 100 of the chance."),
        lambda view: np.subtract(*view.posterior.interval(LEVEL)[::-1]),
        _whole,
        flip=True,
    ),
    CellFigure(
        "shift",
        message("Most likely less published"),
        message("Where it is not 0, the likeliest count is not the published one."),
        lambda view: np.abs(view.posterior.mode - view.posterior.published.counts),
        _whole,
    ),
)


def figures_shown(*, house: bool) -> list[CellFigure]:
    """The figures that the view may show, the default one first."""
    return [f for f in FIGURES if house or not f.house]


def most_exposed(view: View, *, among: Bools | None = None, limit: int = 1000) -> list[int]:
    """Flat cells, the most exposed first.

    In the house by P(true value), then P(small count); outside by P(small count), then by how
    little is unknown: a reader is surest about cells that are likely small.

    Parameters
    ----------
    among
        Only these cells, shape of the table.
    limit
        At most so many.
    """
    posterior = view.posterior
    small = view.small.reshape(-1)
    first = small if view.original is None else view.true.reshape(-1)
    second = -posterior.entropy.reshape(-1) if view.original is None else small
    cells = np.arange(len(small)) if among is None else np.flatnonzero(among)
    if len(cells) > 4 * limit:
        # A million cells need not be sorted to find the first thousand.
        cells = cells[np.argpartition(-first[cells], limit)[: 2 * limit]]
    # Rounded first: equal chances differ in the last bits, and then the second key decides.
    order = np.lexsort((cells, -second[cells].round(9), -first[cells].round(9)))
    return [int(cell) for cell in cells[order][:limit]]
