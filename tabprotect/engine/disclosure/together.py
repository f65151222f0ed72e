"""What sums tell beside other figures of the same cells: means, numbers, variances, largest values.

A sum and a mean give the number of contributors; variances and largest values give contributions.
Source: the handbook, chapter 4; the closed forms are derived.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor

import numpy as np

from tabprotect.engine.arrays import Bools
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.release.published_magnitudes import PublishedMagnitudes
from tabprotect.languages.messages import joined, message

BESIDE = ("n", "mean")
"""What may be published beside sums."""

CONTRIBUTIONS = ("max", "min", "median", "quantile", "variance", "cv")
"""What would tell contributions: of two contributors the mean and the variance give both."""


def checked(names: Sequence[str], table: MagnitudeTable) -> tuple[str, ...]:
    """Return what is published beside the sums.

    Raises
    ------
    ParameterError
        For figures that tell contributions, that there are not, or that weights do not allow.
    """
    for name in names:
        if name in CONTRIBUTIONS:
            raise ParameterError(
                {"publish": message("{name} tells what single contributors put in", repr(name))},
                hint=message("of two contributors a mean and a variance give both; publish n or mean"),
            )
        if name not in BESIDE:
            raise ParameterError(
                {"publish": message("there is no figure {name} beside sums", repr(name))},
                hint=message("choose {names}", joined(BESIDE, ", ")),
            )
    if "mean" in names and table.weighted:
        raise ParameterError(
            {"publish": message("with weights a mean is not the sum over the number in the records")},
            hint=message("publish the sums alone"),
        )
    return tuple(name for name in BESIDE if name in names)


def numbers_between(total: int, mean: int, unit: int = 1) -> tuple[int, int | None]:
    """The least and the most numbers of contributors of a sum with this mean, rounded to the unit.

    The most is ``None`` where there is no end.
    """
    total, mean = abs(total), abs(mean)
    # |total / n - mean| <= unit / 2, in whole numbers.
    least = ceil(2 * total / (2 * mean + unit)) if total else 1
    most = floor(2 * total / (2 * mean - unit)) if 2 * mean > unit else None
    return max(1, least), most


def numbers_known(published: PublishedMagnitudes) -> Bools:
    """The sums of which anybody knows how many contribute, bool (cells,)."""
    if published.units is not None:
        return ~published.hidden
    out = np.zeros(len(published.key), dtype=bool)
    if published.means is None:
        return out
    for cell in np.flatnonzero(~published.hidden).tolist():
        ends = numbers_between(int(published.value[cell]), int(published.means[cell]))
        out[cell] = ends[0] == ends[1]
    return out
