"""Noise before tabulation: every contributor's values times a secret factor near 1.

Source: Evans, Zayatz and Slanta (1998). The factor of a holding follows from a key of the house and
its name, so that it is the same in every table and every year: else averages would undo it.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.magnitudes.tables.magnitude_table import WHOLE, MagnitudeTable
from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.languages.messages import message

SHAPES = ("uniform", "ramp")
"""How distances from 1 are distributed; a ramp falls from the least to the most."""

GRID = 4001


@dataclass(frozen=True)
class MultiplierLaw(Encodable):
    """The law of a factor: 1 plus or minus a distance between two ends.

    Attributes
    ----------
    least, most
        Ends of the distance, as shares.
    shape
        One of :data:`SHAPES`.
    """

    least: float = 0.05
    most: float = 0.15
    shape: str = "uniform"
    json_keys = "least most distances=shape"

    COARSE: ClassVar[int] = 20
    """Noise of less than this many units is not told apart from its rounding."""

    @classmethod
    def of(cls, parameters: Mapping[str, object]) -> MultiplierLaw:
        """Make one from texts or numbers.

        Raises
        ------
        ParameterError
            Naming every one that is wrong.
        """
        wrong = {
            name: message("multiplicative noise has no such parameter")
            for name in parameters
            if name not in ("least", "most", "distances")
        }
        ends = [0.05, 0.15]
        for place, name in enumerate(("least", "most")):
            try:
                ends[place] = float(str(parameters.get(name, ends[place])))
            except ValueError:
                wrong[name] = message("a number is expected")
        shape = str(parameters.get("distances", "uniform"))
        if shape not in SHAPES:
            wrong["distances"] = message("choose {names}", ", ".join(SHAPES))
        if not 0 <= ends[0] < ends[1] < 1 and not wrong:
            wrong["least"] = message("0 <= least < most < 1 is expected")
        if wrong:
            raise ParameterError(wrong)
        return cls(ends[0], ends[1], shape)

    def factors(self, key: bytes, names: Sequence[str]) -> Floats:
        """The factor of each holding, float64 (holdings,)."""
        drawn = np.array([keyed_numbers(key, name) for name in names]).reshape(len(names), 2)
        share = drawn[:, 1]
        if self.shape == "ramp":
            share = 1 - np.sqrt(1 - share)
        return 1 + np.where(drawn[:, 0] < 0.5, -1, 1) * (self.least + (self.most - self.least) * share)

    def below(self, factor: Floats) -> Floats:
        """The probability that the factor is at most this."""

        def near(distance: Floats) -> Floats:
            share = np.clip((distance - self.least) / (self.most - self.least), 0, 1)
            return share if self.shape == "uniform" else 1 - (1 - share) ** 2

        return np.where(factor < 1, (1 - near(1 - factor)) / 2, 0.5 + near(factor - 1) / 2)

    def density(self, factor: Floats) -> Floats:
        """The density of the factor."""
        distance = np.abs(factor - 1)
        inside = (distance >= self.least) & (distance <= self.most)
        width = self.most - self.least
        height = (
            np.full(distance.shape, 1 / width)
            if self.shape == "uniform"
            else 2 * (self.most - distance) / width**2
        )
        return np.where(inside, height / 2, 0.0)

    def belief(self, within: float) -> float:
        """The chance of the best guess to lie within a share of the value of one who is alone.

        Exact for a prior of 1/x: the ratio of the published to the true value then has the law of the
        factor.
        """
        low = np.linspace(1 - self.most, 1 + self.most, GRID)
        ends = [1 - self.most, 1 - self.least, 1 + self.least, 1 + self.most]
        ratio = (1 + within) / (1 - within)
        starts = np.concatenate([low, ends, [end / ratio for end in ends]])
        return float((self.below(starts * ratio) - self.below(starts - 1e-12)).max())

    def rounded_belief(self, published: int, within: float) -> float:
        """The same for a published whole number of units, of a value that is one too.

        Where noise is hardly a unit its rounding takes it away: the belief is 1 then.
        """
        most = int((published + 1) / (1 - self.most)) + 1
        values = np.arange(1, most + 1, dtype=np.float64)
        moved = published - values
        high, low = (self.below(1 + (moved + half) / values) for half in (0.5, -0.5))
        chances = (high - low) / values
        return window_belief(values, chances, within) if chances.sum() > 0 else 1.0


def window_belief(values: Floats, chances: Floats, within: float) -> float:
    """The largest probability that a guess lies within a share of the true value."""
    order = np.argsort(values)
    values, summed = values[order], np.append(0.0, np.cumsum(chances[order]))
    ends = np.searchsorted(values, values * (1 + within) / (1 - within) * (1 + 1e-12), side="right")
    return float((summed[ends] - summed[:-1][np.arange(len(values))]).max() / summed[-1])


def keyed_numbers(key: bytes, name: str) -> tuple[float, float]:
    """Two numbers in [0, 1) that follow from the key and a name."""
    found = hmac.new(key, b"magnitudes:" + name.encode(), hashlib.sha256).digest()
    return (int.from_bytes(found[:7], "big") / 2**56, int.from_bytes(found[7:14], "big") / 2**56)


def multiplied(table: MagnitudeTable, law: MultiplierLaw, key: bytes) -> Ints:
    """The sums of noisy contributions, int64 (cells,): they add up as the true ones do.

    Of a unit that stands for several, one copy has noise. Every noisy contribution is rounded to the
    publication unit before anything is added.
    """
    rows = table.rows
    once = np.where(rows.weight > 0, np.minimum(1.0, rows.weight / WHOLE), 0.0)
    noise = rows.own * (law.factors(key, table.names)[rows.holding] - 1) * once
    noisy = rows.weighted + np.rint(noise).astype(np.int64)
    return summed_anew(table, noisy)


def summed_anew(table: MagnitudeTable, values: Ints) -> Ints:
    """The sums of other values of the rows, for every cell."""
    key = table.cells.key
    out = np.zeros(len(key), dtype=np.int64)
    for at in table.row_keys(table.rows.codes):
        np.add.at(out, np.searchsorted(key, at), values)
    return out
