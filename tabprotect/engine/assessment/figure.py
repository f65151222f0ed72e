"""One figure about a release, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass

from tabprotect.engine.arrays import Floats
from tabprotect.languages.messages import message

AT_LEAST = message("at least: ")
"""First words of the reason where the true value may be larger."""


ABOUT = "about: "
"""First words of the reason where the true value may be larger or smaller."""


class NotComputable(Exception):  # noqa: N818 (a figure there is none of is no fault)
    """The figure does not exist for this table or release; the text says why."""


@dataclass(frozen=True, eq=False)
class Figure:
    """The figure of a measure for one release. Confidential: it depends on the original.

    Attributes
    ----------
    value
        ``None`` where there is none.
    reason
        Why there is none, or why the true one may be larger (``AT_LEAST``, ``ABOUT``), in words.
    per_cell : float64, or None
        The figure cell by cell, NaN where a cell has none: (compared cells,) over
        ``"published cells"``, the table's shape over ``"inner cells"``, the key variables' shape
        over ``"key groups"``.
    """

    value: float | None
    per_cell: Floats | None = None
    reason: str = ""


def mean(values: Floats, none: str) -> float:
    """The mean of some cells' figures.

    Raises
    ------
    NotComputable
        With the reason ``none`` when there is no cell.
    """
    if not values.size:
        raise NotComputable(none)
    return float(values.mean())
