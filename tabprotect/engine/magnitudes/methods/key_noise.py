"""Cell keys for sums: noise of the size of the largest contributions, the same for the same contributors.

Sources: the method of the cell keys in the SDC handbook, 4.6, and R package cellKey.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.magnitudes.methods.multipliers import keyed_numbers, window_belief
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.languages.messages import message

SHARES = (1.0, 0.6, 0.4)
"""How much the noise of the largest, second and third contribution counts."""

NUMBERS = {
    "D": 5.0,
    "V": 2.0,
    "step": 0.5,
    "top": 1.0,
    "flexpoint": 1000.0,
    "small": 0.2,
    "large": 0.03,
    "steepness": 2.0,
    "extra": 0.0,
}
"""The parameters with their defaults."""


NEVER = 1e-9


@dataclass(frozen=True)
class KeyNoise(Encodable):
    """A law of noise by keys.

    Attributes
    ----------
    numbers
        By the names of :data:`NUMBERS`: the largest noise and its variance in steps, the contributions
        that it is made of, where and how its size falls from ``small`` to ``large`` (shares of a
        contribution), and what sensitive cells get besides.
    """

    numbers: Mapping[str, float]
    json_keys = "*numbers"

    @classmethod
    def of(cls, parameters: Mapping[str, object]) -> KeyNoise:
        """Make one from texts or numbers.

        Raises
        ------
        ParameterError
            Naming every one that is wrong.
        """
        wrong: dict[str, str] = {}
        numbers = dict(NUMBERS)
        for name, value in parameters.items():
            if name not in NUMBERS:
                wrong[name] = message("cell keys of magnitudes have no such parameter")
                continue
            try:
                numbers[name] = float(str(value))
            except ValueError:
                wrong[name] = message("a number is expected")
        if not wrong:
            wrong = _faults(numbers)
        if wrong:
            raise ParameterError(wrong)
        return cls(numbers)

    @cached_property
    def values(self) -> Floats:
        """The noise in steps of the contribution's share: -D, ..., D."""
        reach = self.numbers["D"]
        return np.arange(-reach, reach + 1e-9, self.numbers["step"])

    @cached_property
    def chances(self) -> Floats:
        """The law of largest entropy with mean 0 and the variance."""
        low, high = -50.0, 50.0
        weights = np.zeros(0)
        for _ in range(200):
            middle = (low + high) / 2
            power = -middle * self.values**2
            weights = np.exp(power - power.max())
            weights /= weights.sum()
            if float((weights * self.values**2).sum()) > self.numbers["V"]:
                low = middle
            else:
                high = middle
        return weights

    def share(self, value: Floats) -> Floats:
        """Return what one step of noise is, as a share of a contribution of this size."""
        point, small, large = (self.numbers[n] for n in ("flexpoint", "small", "large"))
        size = np.maximum(np.abs(value), 1e-300)
        if small == large:
            return np.full(size.shape, large)
        lift = (small * size - large * point) / (large * point)
        power = (2 * point / (point + size)) ** self.numbers["steepness"]
        return np.where(size <= point, small, large * (1 + lift * power))

    def belief(self, published: float, within: float, unit: float = 1.0) -> float:
        """The chance of the best guess to lie within a share of the value of one who is alone."""
        if not published:
            return 1.0
        true, chances = self.originals(published, unit)
        return window_belief(np.abs(true), chances, within)

    def originals(self, published: float, unit: float = 1.0) -> tuple[Floats, Floats]:
        """The values that one who is alone may have, with their weights; float64 (values,) each."""
        grown = 1 + float(self.share(np.array([published * unit]))[0]) * self.values
        # A sum that noise took away altogether would be 0.
        left = grown > NEVER
        values, true = self.values[left], published / grown[left]
        for _ in range(60):
            true = published / np.maximum(1 + self.share(true * unit) * values, NEVER)
        return true, self.chances[left]


def _faults(numbers: Mapping[str, float]) -> dict[str, str]:
    wrong = {}
    if not 0 < numbers["V"] < numbers["D"] ** 2:
        wrong["V"] = message("0 < V < D^2 is expected")
    if not 0 < numbers["step"] <= numbers["D"]:
        wrong["step"] = message("0 < step <= D is expected")
    if numbers["top"] not in (1, 2, 3):
        wrong["top"] = message("choose {names}", "1, 2, 3")
    if not 0 < numbers["large"] <= numbers["small"] or numbers["small"] * numbers["D"] > 1:
        wrong["small"] = message("0 < large <= small <= 1/D is expected: noise never turns a sign")
    if numbers["flexpoint"] <= 0 or numbers["extra"] < 0:
        wrong["flexpoint"] = message("a number above 0 is expected")
    return wrong


def keyed(table: MagnitudeTable, noise: KeyNoise, key: bytes, sensitive: Bools) -> Ints:
    """The sums with noise, int64 (cells,).

    Contributors of zero do not count: leaving one out changes nothing.
    """
    listing, cells = table.listing, table.cells
    keys = np.array([keyed_numbers(key, name)[0] for name in table.names])
    own = listing.own.astype(np.float64)
    starts = listing.start[:-1]
    together = np.add.reduceat(np.where(own != 0, keys[listing.holding], 0.0), starts) % 1.0
    unit = 1 / 10**table.decimals
    left, number = np.abs(own), np.repeat(np.arange(len(cells)), np.diff(listing.start))
    summed = np.cumsum(noise.chances)
    out = cells.value.astype(np.float64)
    for rank in range(int(noise.numbers["top"])):
        largest = np.maximum.reduceat(left, starts)
        # The digits of the key, turned for each further contribution.
        place = np.searchsorted(summed, (together * 10 ** (2 * rank)) % 1.0 * summed[-1])
        step = noise.values[np.minimum(place, len(summed) - 1)]
        step = step + np.where(sensitive, np.where(step < 0, -1, 1) * noise.numbers["extra"], 0)
        out += SHARES[rank] * largest * noise.share(largest * unit) * step
        here = np.flatnonzero(left == largest[number])
        first = here[np.unique(number[here], return_index=True)[1]]
        left[first] = 0
    return np.where(cells.value == 0, 0, np.rint(out)).astype(np.int64)
