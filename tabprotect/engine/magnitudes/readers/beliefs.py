"""Posterior p %: how probable a reader's best guess of a contribution lies within p % of it.

One scale for all methods, from the release alone. An outsider takes a sum as that of one contributor,
which is the worst case; a contributor takes his own part off, and of what is left lets the others beside
the largest have at most the share that he does not know (``rest``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.magnitudes.methods.key_noise import KeyNoise
from tabprotect.engine.magnitudes.methods.multipliers import MultiplierLaw, window_belief
from tabprotect.engine.magnitudes.readers.size_letters import NO_LETTER, log_chances
from tabprotect.engine.magnitudes.tables.equations import Equations
from tabprotect.engine.release.published_magnitudes import PublishedMagnitudes
from tabprotect.engine.solver import Entries, TableProgramme

CHAINS, STEPS, KEPT = 64, 400, 60
"""Walks through the possible sums, their steps, and how many of the last are kept of each."""

GRID = 400


@dataclass(frozen=True)
class ContributorView:
    """A contributor as a reader.

    Attributes
    ----------
    own
        What he put into the cell, in units; 0 for an outsider.
    cell
        Its number; ``None`` for an outsider.
    rest
        The largest share of what others put in that is not the target's, from 0 to 1.
    """

    own: int = 0
    cell: int | None = None
    rest: float = 0.0


@dataclass(frozen=True)
class CellBelief:
    """The belief about one cell: its number, and the probability."""

    cell: int
    belief: float


def noise_beliefs(
    published: PublishedMagnitudes, law: MultiplierLaw | KeyNoise, view: ContributorView, within: float
) -> Iterator[CellBelief]:
    """The beliefs about every sum with noise that is not 0.

    Parameters
    ----------
    within
        As a share: .1 for 10 %.
    """
    own = _own(published, view)
    unit = 1 / 10**published.decimals
    for number in np.flatnonzero(published.value != 0).tolist():
        value, mine = abs(int(published.value[number])), int(own[number])
        if mine:
            yield CellBelief(number, contributor_belief(law, (value, mine), view.rest, within, unit))
        elif isinstance(law, KeyNoise):
            yield CellBelief(number, law.belief(value, within, unit))
        else:
            yield CellBelief(number, law.belief(within))


def contributor_belief(
    law: MultiplierLaw | KeyNoise, sums: tuple[int, int], rest: float, within: float, unit: float = 1.0
) -> float:
    """The belief of a contributor about the largest other one, from a sum with noise.

    ``sums`` are the published one and his own. His own factor is unknown to him too.
    """
    published, own = sums
    share = (np.arange(GRID) + 0.5) / GRID * rest if rest else np.zeros(1)
    if isinstance(law, KeyNoise):
        width = float(law.share(np.array([published * unit]))[0])
        grown = 1 + width * law.values
        left = np.maximum(published / np.maximum(grown, 1e-9) - own, 0.0) * (grown > 1e-9)
        values = (left[:, None] * (1 - share)[None, :]).reshape(-1)
        chances = np.repeat(law.chances / len(share), len(share))
        found = values > 0
        return window_belief(values[found], chances[found], within) if found.any() else 1.0
    ends = 1 - law.most, 1 + law.most
    factor = np.linspace(*ends, GRID)
    weight = law.density(factor)
    # What is left of the sum when his own noisy part is taken off, by his factor.
    left = published - factor * own
    kept = (weight > 0) & (left > 0)
    if not kept.any():
        return 1.0
    outer, chance = left[kept], weight[kept]
    # The others' part has one factor: the largest's; beside him the rest is small.
    true = outer[:, None] / factor[None, :]
    both = chance[:, None] * weight[None, :]
    values = (true[:, :, None] * (1 - share[:: max(1, len(share) // 20)])[None, None, :]).reshape(-1)
    chances = np.repeat(both.reshape(-1), values.size // both.size)
    return window_belief(values, chances, within)


def _own(published: PublishedMagnitudes, view: ContributorView) -> Ints:
    """Return what the reader put into each cell: into his own, and into all that hold it."""
    out = np.zeros(len(published.key), dtype=np.int64)
    if view.cell is None:
        return out
    inside = np.ones(len(published.key), dtype=bool)
    for variable, nodes in zip(published.variables, published.nodes, strict=True):
        mine = int(nodes[view.cell])
        held = np.any(variable.depths == mine, axis=0)
        above = [
            bool(np.all(np.any(variable.depths == node, axis=0)[held])) for node in range(len(variable.nodes))
        ]
        inside &= np.array(above)[nodes]
    out[inside] = view.own
    return out


def hidden_beliefs(
    published: PublishedMagnitudes,
    view: ContributorView,
    within: float,
    generator: np.random.Generator,
    letters: Ints | None = None,
) -> Iterator[CellBelief]:
    """The beliefs about every hidden sum, uniform on what is possible but for what letters say.

    Parameters
    ----------
    letters : int64 (cells,)
        The letter of size of each sum, :data:`NO_LETTER` where there is none; ``None`` without any.

    They are exact for one degree of freedom; else the generator walks through what is possible.
    """
    own = _own(published, view)
    equations, column, points = _possible(published, own, generator, letters)
    for number in np.flatnonzero(published.hidden).tolist():
        place = int(equations.same[number])
        if place not in column:
            yield CellBelief(number, 1.0)
            continue
        values = points[:, column[place]]
        yield CellBelief(number, _of_points(values, int(own[number]), view.rest, within))
    if view.cell is not None and not published.hidden[view.cell]:
        left = np.array([float(published.value[view.cell] - view.own)])
        yield CellBelief(view.cell, _of_points(left, 0, view.rest, within))


def _unknown(published: PublishedMagnitudes) -> tuple[Equations, Bools, Ints]:
    """Return how the sums add up, which of them a reader does not know, and the others' values."""
    equations = Equations.of(published.variables, published.key, published.nodes)
    # A published sum among cells that are the same is known of all of them.
    hidden = published.hidden.copy()
    known = published.value.copy()
    for cell in np.flatnonzero(~published.hidden).tolist():
        hidden[equations.same[cell]] = False
        known[equations.same[cell]] = published.value[cell]
    return equations, hidden, known


def second_beliefs(
    published: PublishedMagnitudes,
    cells: Ints,
    parts: Ints,
    within: float,
    letters: Ints | None = None,
    *,
    seed: int = 0,
) -> Floats:
    """Return what the second largest of hidden sums believes of the largest, the rest known to 100 %.

    Parameters
    ----------
    cells : int64 (sums,)
        Hidden ones.
    parts : int64 (sums, 2)
        What the second largest put into each, and what all beside the two did.
    letters
        As of :func:`hidden_beliefs`.

    Returns
    -------
    float64 (sums,)
    """
    nothing = np.zeros(len(published.key), dtype=np.int64)
    equations, column, points = _possible(published, nothing, np.random.default_rng(seed), letters)
    share = (np.arange(50) + 0.5) / 50
    out = np.ones(len(cells))
    for n, (cell, (own, rest)) in enumerate(zip(cells.tolist(), parts.tolist(), strict=True)):
        place = int(equations.same[cell])
        if place not in column:
            values = np.array([float(published.value[cell])])
        else:
            values = points[:, column[place]]
            if not np.all(np.isfinite(values)):
                out[n] = 0.0
                continue
        left = (values - own)[:, None] - 2 * rest * (share if rest else share[:1] * 0)[None, :]
        left = left[left > 0]
        if len(left):
            out[n] = window_belief(left, np.ones(len(left)), within)
    return out


def hidden_quantiles(
    published: PublishedMagnitudes,
    levels: Floats,
    generator: np.random.Generator,
    letters: Ints | None = None,
) -> Floats:
    """Quantiles of every hidden sum as :func:`hidden_beliefs` has it, float64 (hidden, levels).

    They are infinite where nothing bounds the sums.
    """
    nothing = np.zeros(len(published.key), dtype=np.int64)
    equations, column, points = _possible(published, nothing, generator, letters)
    known = _unknown(published)[2]
    found = [
        np.quantile(points[:, column[place]], levels, method="inverted_cdf")
        if place in column
        else np.full(len(levels), known[place], dtype=np.float64)
        for place in equations.same[published.hidden].tolist()
    ]
    return np.array(found).reshape(-1, len(levels))


def hidden_ranges(published: PublishedMagnitudes) -> Floats:
    """The least and the most of every hidden sum if no contribution is below 0, in units.

    Returns
    -------
    float64 (hidden, 2)
        The most is infinite where nothing bounds it.
    """
    equations, hidden, known = _unknown(published)
    cells = equations.places[hidden[equations.places]]
    out = np.repeat(known[:, None].astype(np.float64), 2, axis=1)
    if len(cells):
        found = _extremes(*_system(equations, hidden, known, cells), np.zeros(len(cells)))
        out[cells] = 0.0, np.inf
        if found is not None:
            ends, limit = found
            most = ends.max(axis=0)
            most[most >= limit] = np.inf
            out[cells] = np.stack([ends.min(axis=0), most], axis=1)
    at = np.flatnonzero(published.hidden)
    return np.asarray(out[equations.same[at]])


def _of_points(values: Floats, own: int, rest: float, within: float) -> float:
    if not np.all(np.isfinite(values)):
        # Nothing bounds the sum.
        return 0.0
    left = np.maximum(values - own, 0.0)
    if not len(left) or left.max() <= 0:
        return 1.0
    if own and rest:
        share = (np.arange(50) + 0.5) / 50 * rest
        left = (left[:, None] * (1 - share)[None, :]).reshape(-1)
    elif rest and len(left) == 1:
        left = left * (1 - (np.arange(GRID) + 0.5) / GRID * rest)
    return window_belief(left, np.ones(len(left)), within)


def _system(equations: Equations, hidden: Bools, known: Ints, cells: Ints) -> tuple[Floats, Floats]:
    """The sums that hidden cells are in, (sums, cells), and what they add up to."""
    places = equations.places
    row, at, sign = equations.among(places)
    inside = hidden[places[at]]
    matrix = np.zeros((len(equations), len(cells)))
    matrix[row[inside], np.searchsorted(cells, places[at[inside]])] = sign[inside]
    right = np.bincount(row[~inside], (sign * known[places[at]])[~inside], len(equations))
    used = matrix.any(axis=1)
    return matrix[used], np.asarray(-right[used], dtype=np.float64)


def _possible(
    published: PublishedMagnitudes, own: Ints, generator: np.random.Generator, letters: Ints | None
) -> tuple[Equations, dict[int, int], Floats]:
    """The equations, the column of each hidden cell, and possible values, (points, hidden cells).

    Parameters
    ----------
    own : int64 (cells,)
        What the reader put into each: no cell is less.
    """
    equations, hidden, known = _unknown(published)
    floor = np.zeros(len(own), dtype=np.int64)
    np.maximum.at(floor, equations.same, own)
    cells = equations.places[hidden[equations.places]]
    points = np.zeros((0, 0))
    if len(cells):
        system = _system(equations, hidden, known, cells)
        said = np.full(len(own), NO_LETTER, dtype=np.int64)
        if letters is not None:
            at = np.flatnonzero(letters != NO_LETTER)
            said[equations.same[at]] = letters[at]
        points = _points(*system, floor[cells].astype(np.float64), generator, said[cells])
    return equations, {cell: n for n, cell in enumerate(cells.tolist())}, points


def _points(
    matrix: Floats, side: Floats, floor: Floats, generator: np.random.Generator, letters: Ints
) -> Floats:
    """Points uniform on ``matrix y = side``, ``y >= floor``, but for the weights of letters.

    Returns
    -------
    float64 (points, cells)
    """
    lettered = np.flatnonzero(letters != NO_LETTER)

    def weight(points: Floats) -> Floats:
        return np.asarray(log_chances(letters[lettered], points[:, lettered]).sum(axis=1))

    size = matrix.shape[1]
    ends = _ends(matrix, side, floor)
    if ends is None:
        return np.full((1, size), np.inf)
    middle = ends.mean(axis=0)
    # Late: it takes a third of a second, and most who read need none of it.
    from scipy.linalg import null_space

    basis = null_space(matrix) if len(matrix) else np.eye(size)
    if basis.shape[1] == 0:
        return np.asarray(middle[None, :], dtype=np.float64)
    if basis.shape[1] == 1:
        along = ends @ basis[:, 0]
        low, high = ends[int(along.argmin())], ends[int(along.argmax())]
        line = np.asarray(low + (high - low) * np.linspace(0, 1, 4001)[:, None])
        if not len(lettered):
            return line
        chances = np.exp(weight(line) - weight(line).max())
        shares = (np.arange(len(line)) + 0.5) / len(line) * chances.sum()
        return np.asarray(line[np.searchsorted(np.cumsum(chances), shares)])
    at = np.tile(middle, (CHAINS, 1))
    kept, here = [], weight(at)
    for step in range(STEPS):
        way = generator.standard_normal((CHAINS, basis.shape[1])) @ basis.T
        room = at - floor
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(np.abs(way) > 1e-12, -room / way, np.nan)
        high = np.nanmin(np.where(way < -1e-12, reach, np.inf), axis=1)
        low = np.nanmax(np.where(way > 1e-12, reach, -np.inf), axis=1)
        to = at + (low + (high - low) * generator.random(CHAINS))[:, None] * way
        if len(lettered):
            there = weight(to)
            taken = np.log(generator.random(CHAINS)) < there - here
            at, here = np.where(taken[:, None], to, at), np.where(taken, there, here)
        else:
            at = to
        if step >= STEPS - KEPT * 4 and step % 4 == 0:
            kept.append(at)
    return np.concatenate(kept)


def _ends(matrix: Floats, side: Floats, floor: Floats) -> Floats | None:
    """Points with the least and the most of every sum; ``None`` where nothing bounds one."""
    found = _extremes(matrix, side, floor)
    return None if found is None or found[0].max(initial=0.0) >= found[1] else found[0]


def _extremes(matrix: Floats, side: Floats, floor: Floats) -> tuple[Floats, float] | None:
    """The same points, and from where on a sum has no bound; ``None`` where nothing is possible."""
    size = matrix.shape[1]
    row, column = np.nonzero(matrix)
    entries = Entries.at(row, column, matrix[row, column], size)
    limit = 1e3 * (1.0 + float(np.abs(side).sum()))
    model = TableProgramme(entries, sums=(side, side), cells=(floor, np.full(size, limit)))
    found = []
    for number in range(size):
        for sense in ("min", "max"):
            try:
                point = model.optimise(np.array([number]), sense).point
            except InfeasibleError:
                return None
            found.append(point)
    return np.array(found), limit * 0.999
