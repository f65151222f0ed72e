"""The exact posterior of open strips of swaps in one pass: one 3 x 3 product for each swap."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tabprotect.engine.arrays import Floats, Ints, Shorts, Signs
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.posterior.moves import strip_sweeps
from tabprotect.engine.posterior.moves.backward_factors import StepStructure
from tabprotect.engine.posterior.moves.signature_model import Coin, GroupModel
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.workers.threads import allowed, at_most, side_by_side
from tabprotect.languages.messages import message

REACH = 4
"""Most swaps that touch a cell, and so the largest change."""

LANES = 4
"""Strips side by side, as they are compiled."""

HELD_BY_EACH = 2**23
"""Entries of messages beyond which strips are gone through one after the other: 64 MiB."""

AS_QUICK = 16
"""How many entries take as long as one of an elimination in general, at least."""

LOW, HIGHEST = 8, 2_000
"""Most rows of cells that are swept state by state: 3^8 numbers a table; higher strips are trains (``trains.py``),
whose columns hold this many cells at most."""

TRAIN_COST = 1_000
"""What a swap of a train costs, in entries of an elimination in general."""

MOST_WEIGHED = 2**15
"""Most swaps of a strip whose rule weighs counts: each has factors of its own, 8 KB for four strips."""

COLUMNS = 64
"""Columns of swaps whose factors are made at a time, where each swap has its own."""

_Given = tuple[Floats, Ints, Floats | None]
"""A table of factors, the row of it that each swap has, and the weights of changes."""

CUT = 5
"""Counts from which on none differs: later swaps take 3 at most, and no rule looks beyond 2."""


@dataclass(frozen=True, eq=False)
class StripPlan:
    """Open strips of one shape.

    Attributes
    ----------
    structure
        The components.
    columns, rows
        Of the cells of each strip.
    cells : int64 (columns, rows)
        The local group of each cell.
    """

    structure: StepStructure
    columns: int
    rows: int
    cells: Ints

    @classmethod
    def of(cls, structure: StepStructure, model: GroupModel) -> StripPlan | None:
        """Return ``None`` if the components are something else."""
        if model.passes != 1 or model.levels != 3:
            return None
        swaps, cells = structure.cycles, len(structure.lengths)
        if int(structure.lengths.max(initial=0)) > REACH:
            return None
        if model.worth is not None and swaps > MOST_WEIGHED:
            return None
        # (n - 1)(h - 1) swaps and n h cells: n and h have this sum, and that product.
        both = cells - swaps + 1
        square = both**2 - 4 * cells
        if square < 0 or math.isqrt(square) ** 2 != square:
            return None
        root = math.isqrt(square)
        for columns in dict.fromkeys(((both + root) // 2, (both - root) // 2)):
            rows = both - columns
            if columns >= 2 and 2 <= rows <= HIGHEST:
                at = _laid_out(structure, columns, rows)
                if at is not None:
                    return cls(structure, columns, rows, at)
        return None

    @property
    def batch(self) -> int:
        """Number of strips."""
        return int(self.structure.members.shape[1])

    @property
    def width(self) -> int:
        """The number of coefficients joined to an eliminated one."""
        return min(self.rows, self.structure.cycles - 1)

    @property
    def held(self) -> int:
        """Cost of one strip, in entries of an elimination in general."""
        if self.tall:
            return self.structure.cycles * TRAIN_COST
        return max(self.structure.cycles * int(3 ** (self.rows + 1)) // AS_QUICK, 1)

    @property
    def tall(self) -> bool:
        """Whether its messages are trains."""
        return self.rows > LOW


def _laid_out(structure: StepStructure, columns: int, rows: int) -> Ints | None:
    """The group of each cell of a strip, (columns, rows); ``None`` if one has other swaps."""
    c, r = (x.reshape(-1) for x in np.indices((columns, rows)))
    of_cell = np.full((columns * rows, REACH), -1, dtype=np.int64)
    # Swaps are met in this order by any cell, and by none twice.
    for k, (i, j, sign) in enumerate(((-1, -1, 1), (-1, 0, 0), (0, -1, 0), (0, 0, 1))):
        inside = (c + i >= 0) & (c + i < columns - 1) & (r + j >= 0) & (r + j < rows - 1)
        of_cell[inside, k] = (((c + i) * (rows - 1) + r + j) * 2 + sign)[inside]
    of_group = np.full((len(structure.lengths), REACH), -1, dtype=np.int64)
    number = np.arange(len(structure.codes)) - np.repeat(
        np.cumsum(structure.lengths) - structure.lengths, structure.lengths
    )
    of_group[np.repeat(np.arange(len(of_group)), structure.lengths), number] = structure.codes
    # What is not there goes last, as for groups.
    of_cell = np.take_along_axis(of_cell, np.argsort(of_cell < 0, axis=1, kind="stable"), axis=1)
    by_cell, by_group = (np.lexsort(one.T) for one in (of_cell, of_group))
    if not np.array_equal(of_cell[by_cell], of_group[by_group]):
        return None
    out = np.empty(columns * rows, dtype=np.int64)
    out[by_cell] = by_group
    return out.reshape(columns, rows)


@lru_cache(maxsize=8)
def factor_table(coin: Coin) -> Floats:
    """The factors of a swap by the published counts of its four cells, each up to ``CUT``.

    float64 (6^4, 243): see ``Strips``. The cells are (c, r), (c, r + 1), (c + 1, r), (c + 1, r + 1).
    """
    count = np.arange(CUT + 1)
    a, b, d, e = (x[..., None, None, None, None] for x in np.meshgrid(*[count] * 4, indexing="ij"))
    above, x, x1, y1 = np.meshgrid(*[np.arange(-1, 2)] * 4, indexing="ij")
    low_plus = np.minimum(a, e + y1 + x - x1)
    low_minus = np.minimum(b - y1, d + above - x)
    masses = coin.masses(low_plus, low_minus)
    out = np.stack([np.broadcast_to(mass, low_plus.shape) for mass in masses], axis=-1)
    return np.ascontiguousarray(out.reshape((CUT + 1) ** 4, 3**5))


def weighed_factors(coin: Coin, worth: Floats) -> Floats:
    """The factors of every swap under the rule ``reversible``, float64 (swaps * lanes, 243).

    Parameters
    ----------
    worth : float64 (columns, rows, lanes, 2 span + 3)
        Log weight of each change of each cell.
    """
    middle = worth.shape[-1] // 2
    # What a path cannot reach has no mass, so any value may be read there.
    reach = np.clip(np.arange(-REACH, REACH + 1) + middle, 1, 2 * middle - 1)
    here = worth[..., reach]
    more, less = worth[..., reach + 1] - here, worth[..., reach - 1] - here
    above, x, x1, y1 = np.meshgrid(*[np.arange(-1, 2)] * 4, indexing="ij")

    def ratios(plus: Floats, minus: Floats) -> Floats:
        return np.asarray(
            plus[:-1, :-1, :, REACH + 0 * x]
            + plus[1:, 1:, :, REACH + y1 + x - x1]
            + minus[:-1, 1:, :, REACH - y1]
            + minus[1:, :-1, :, REACH + above - x]
        )

    masses = coin.ratio_masses(ratios(more, less), ratios(less, more))
    return np.ascontiguousarray(np.stack(masses, axis=-1).reshape(-1, 3**5))


def given_factors(model: GroupModel, groups: Ints) -> _Given:
    """The factors of some strips, and the weights of their cells.

    Parameters
    ----------
    groups : int64 (columns, rows, strips)
    """
    weights = None
    if model.log_prior is not None:
        span = model.span
        reach = min(span, REACH)
        weights = np.zeros((*groups.shape, 2 * REACH + 1))
        log = model.log_prior[groups]
        weights[..., REACH - reach : REACH + reach + 1] = np.exp(log[..., span - reach : span + reach + 1])
    if model.worth is not None:
        columns, rows, lanes = groups.shape
        numbers = np.arange((columns - 1) * (rows - 1) * lanes, dtype=np.int32)
        table = np.empty((len(numbers), 3**5))
        each = (rows - 1) * lanes
        for c in range(0, columns - 1, COLUMNS):
            part = weighed_factors(model.coin, model.worth[groups[c : c + COLUMNS + 1]])
            table[c * each : c * each + len(part)] = part
        return table, numbers.reshape(columns - 1, rows - 1, lanes), weights
    counts = np.clip(model.lowest, 0, CUT).astype(np.int32)[groups]
    at = counts[:-1, :-1]
    for other in (counts[:-1, 1:], counts[1:, :-1], counts[1:, 1:]):
        at = at * (CUT + 1) + other
    return factor_table(model.coin), np.ascontiguousarray(at), weights


class StripSweeps:
    """The posterior of strips of one shape.

    Parameters
    ----------
    members : int64 (groups, strips)
        Group numbers of the model.
    before
        Share of the work done before.
    """

    def __init__(
        self, model: GroupModel, plan: StripPlan, members: Ints, before: float, progress: Progress = SILENT
    ) -> None:
        self._model, self._plan, self._before, self._progress = model, plan, before, progress
        # (columns, rows, strips)
        self._groups = members[plan.cells]

    @property
    def _shape(self) -> tuple[int, int]:
        return self._plan.columns, self._plan.rows - 1

    def _parts(self) -> Iterator[tuple[Ints, int]]:
        """The groups of some strips, (columns, rows, LANES), and how many of them are real."""
        for first in range(0, self._groups.shape[2], LANES):
            self._progress.report(message("eliminating"), self._before)
            part = self._groups[:, :, first : first + LANES]
            real = part.shape[2]
            yield part[:, :, np.arange(LANES) % real], real

    def _swept(self, groups: Ints, messages: Floats, laws: Floats | None) -> _Given:
        given = given_factors(self._model, groups)
        if not strip_sweeps.swept(*self._shape, *given, messages, laws):
            raise InfeasibleError(
                message("no original table fits this published table, mechanism and prior"),
                hint=message("check that table and mechanism belong together, or choose a wider prior"),
            )
        return given

    def _messages(self) -> Floats:
        n, k = self._shape
        return np.empty((n, 3**k, LANES))

    def changes(self, out: Floats) -> None:
        """Fill the laws of the changes, float64 (groups, 2 span + 1)."""
        span = self._model.span
        reach = min(span, REACH)

        def swept(part: tuple[Ints, int], progress: Progress) -> None:
            groups, real = part
            progress.report(message("eliminating"), self._before)
            laws = np.empty((*groups.shape, 2 * REACH + 1))
            self._swept(groups, self._messages() if messages is None else messages, laws)
            found = laws[:, :, :real, REACH - reach : REACH + reach + 1]
            out[groups[:, :, :real], span - reach : span + reach + 1] = found

        # Messages of a large table are held once.
        columns, k = self._shape
        alone = columns * 3**k * LANES > HELD_BY_EACH
        messages = self._messages() if alone else None
        with at_most(1 if alone else allowed()):
            side_by_side(swept, list(self._parts()), self._progress)

    def draw(self, out: Shorts, generator: np.random.Generator) -> None:
        """Fill joint draws of the changes, (draws, groups), best group by group."""
        n, k = self._shape
        for groups, real in self._parts():
            messages = self._messages()
            factors = self._swept(groups, messages, None)
            # One or two strips fill the lanes several times: each copy makes a part of the draws.
            copies = LANES // real
            number = -(-len(out) // copies)
            before = np.zeros((number, k + 2, LANES), dtype=np.int8)
            before[:, 1:-1] = self._first(factors[2], messages[0], number, generator)
            below = before[:, 1:] - before[:, :-1]
            self._put(-below, groups[0, :, :real], out)
            for c in range(n - 1):
                self._progress.report(message("drawing tables"), self._before)
                random = generator.random((number, k, LANES))
                given = np.ascontiguousarray(before[:, 1:-1])
                after = np.zeros_like(before)
                drawn = np.zeros((number, k, LANES), dtype=np.int8)
                if c < n - 2:
                    strip_sweeps.draw(n, k, c, number, *factors, messages, random, given, drawn)
                after[:, 1:-1] = drawn
                change, below = below, after[:, 1:] - after[:, :-1]
                change -= below
                self._put(change, groups[c + 1, :, :real], out)
                before = after

    @staticmethod
    def _put(change: Signs, groups: Ints, out: Shorts) -> None:
        """Fill the draws of some groups, (rows, real lanes), from (draws of a copy, rows, lanes)."""
        number, real = len(change), groups.shape[1]
        for copy in range(change.shape[2] // real):
            part = out[copy * number : (copy + 1) * number]
            mine = change[: len(part), :, copy * real : (copy + 1) * real]
            part.T[groups] = mine.transpose(1, 2, 0)

    @staticmethod
    def _first(weights: Floats | None, message: Floats, number: int, generator: np.random.Generator) -> Signs:
        """Coefficients of the first column, int8 (draws, k, lanes)."""
        k = round(math.log(len(message), 3))
        coefficients = np.indices((3,) * k).reshape(k, -1) - 1
        outside = np.ones_like(message)
        if weights is not None:
            edged = np.pad(coefficients, ((1, 1), (0, 0)))
            for weight, change in zip(weights[0], edged[:-1] - edged[1:], strict=True):
                outside *= weight[:, change + REACH].T
        below = np.cumsum(message * outside, axis=0)
        random = generator.random((number, LANES)) * below[-1]
        at = np.stack([np.searchsorted(below[:, lane], random[:, lane], "right") for lane in range(LANES)], 1)
        return np.asarray(coefficients.T[np.minimum(at, len(message) - 1)].transpose(0, 2, 1), dtype=np.int8)
