"""Originals drawn given several releases by swaps around a table, by chains of whole rings.

All coefficients of a ring are drawn at once given everything else, in all releases, with the shift by
which those of one release exceed those of the first: no proposal is refused, and every shift is
reached. A sweep draws every row and every column; after it little of the state before is left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Floats, Ints, Signs, Singles
from tabprotect.engine.posterior.agreement import SETTLED, mixing
from tabprotect.engine.posterior.together.differences import NoneFitError
from tabprotect.engine.posterior.together.torus import TRIPLES, Torus
from tabprotect.engine.progress import Progress
from tabprotect.languages.messages import message

CHAINS = 32
"""Chains, each started with other shifts."""

SETTLING = 8
"""Sweeps of each chain that are not kept, for each height of the walls."""

KEPT = 22
"""Sweeps that are."""

MOST_TIMES = 6
"""How many times as many are kept until the chains agree."""

MOST_CELLS = 1_600
"""Most cells times releases beyond the first: half a minute."""

WALLS = (1.5, 2.2, 3.0, 4.0, 6.0)
"""How much less than the least possible step an impossible one weighs, in logs: chains go through, and
what they find meanwhile is not kept."""

TRIES = 20
"""Starts that are tried where more than two releases have to fit."""

FAR = 10**6
"""No bound."""

LEAST_WORTH = 280
"""Fewest independent draws that tell as much: a standard error of .03."""

LEAST_POSSIBLE = 0.3
"""Least share of the chains that stand at a possible table."""


@dataclass(frozen=True, eq=False)
class RingDraws:
    """The draws of the chains, with how far they agree.

    Attributes
    ----------
    changes : int64 (draws, groups)
        Original - first release.
    r_hat
        Of the mean of each cell, and of each ring's shift; the largest.
    effective : float64 (groups,)
        Independent draws that would tell as much of each.
    """

    changes: Ints
    r_hat: float
    effective: Floats


def ring_draws(torus: Torus, generator: np.random.Generator, progress: Progress) -> RingDraws | None:
    """Run the chains; ``None`` where the table is too large, or they do not agree.

    Raises
    ------
    NoneFitError
        If the releases are of no one original.
    """
    releases, cells = len(torus.counts), torus.counts[0].size
    if cells * (releases - 1) > MOST_CELLS:
        return None
    taken = np.stack([_start(torus, generator) for _ in range(CHAINS)], axis=1)
    chains = _Chains(taken, generator)
    if not chains.settled(torus, progress):
        return None
    changes, shifts, possible = [], [], []
    for sweep in range(KEPT * MOST_TIMES):
        progress.report(message("drawing tables"), sweep / (KEPT * MOST_TIMES))
        chains.sweep()
        taken = chains.taken
        possible.append(torus.possible(taken))
        changes.append(torus.change(taken[0]).reshape(CHAINS, cells))
        shifts.append((taken[:1] - taken[1:])[:, :, :, 0].swapaxes(0, 1).reshape(CHAINS, -1))
        if (sweep + 1) % KEPT:
            continue
        fine = np.stack(possible)
        if not fine.any(axis=0).all():
            return None
        seen = np.concatenate([np.stack(changes), np.stack(shifts)], axis=2)
        r_hat, worth = mixing(seen.swapaxes(1, 2), fine)
        number = int(fine.sum())
        if r_hat <= SETTLED and number * worth.min() >= LEAST_WORTH:
            out = np.zeros((number, cells), dtype=np.int64)
            out[:, torus.groups.reshape(-1)] = np.stack(changes)[fine]
            effective = np.zeros(cells)
            effective[torus.groups.reshape(-1)] = number * worth[:cells]
            return RingDraws(out, r_hat, effective)
    return None


@dataclass
class _Chains:
    """All chains, by rows and by columns in turn."""

    taken: Signs
    generator: np.random.Generator
    ways: tuple[Torus, ...] = ()

    def settled(self, torus: Torus, progress: Progress) -> bool:
        """Leave the start behind, with the lowest walls between which enough states are possible."""
        for number, wall in enumerate(WALLS):
            soft = torus.walled(wall)
            self.ways = soft, soft.turned()
            for sweep in range(SETTLING):
                progress.report(message("drawing tables"), (number + sweep / SETTLING) / len(WALLS))
                self.sweep()
            if torus.possible(self.taken).mean() >= LEAST_POSSIBLE:
                return True
        return False

    def sweep(self) -> None:
        """Draw every ring once."""
        for way in self.ways:
            for some in _apart(way.shape[0]):
                _draw(way, self.taken, some, self.generator)
            self.taken = np.ascontiguousarray(self.taken.swapaxes(2, 3))


def _apart(rings: int) -> list[Ints]:
    """The rings in sets of which no step sees two."""
    left, out = list(range(rings)), []
    while left:
        some: list[int] = []
        for one in left:
            if all(min((one - other) % rings, (other - one) % rings) >= 3 for other in some):
                some.append(one)
        out.append(np.array(some))
        left = [one for one in left if one not in some]
    return out


def _start(torus: Torus, generator: np.random.Generator) -> Signs:
    """Coefficients (releases, rows, columns) that fit what the releases differ by."""
    none = np.zeros(torus.shape, dtype=np.int64)
    for _ in range(TRIES):
        less = [none]
        for difference in torus.differences:
            low = np.max([one - 2 for one in less], axis=0)
            high = np.min([one + 2 for one in less], axis=0)
            shifted = _shifted(difference, low, high, generator)
            if shifted is None:
                break
            less.append(shifted)
        else:
            low = np.max([one - 1 for one in less], axis=0)
            high = np.min([one + 1 for one in less], axis=0)
            first = generator.integers(low, high + 1)
            return np.stack([first - one for one in less]).astype(np.int8)
        if len(less) == 1:
            break
    raise NoneFitError


def _shifted(difference: Ints, low: Ints, high: Ints, generator: np.random.Generator) -> Ints | None:
    """A difference plus numbers of its rows and columns that bring it between bounds, at random."""
    rows, columns = difference.shape
    names = rows + columns
    # far[u, v]: by how much v can exceed u, of the numbers of rows, and of columns taken negative.
    far = np.full((names, names), FAR)
    np.fill_diagonal(far, 0)
    far[rows:, :rows] = (high - difference).T
    far[:rows, rows:] = difference - low
    for k in range(names):
        far = np.minimum(far, far[:, [k]] + far[[k]])
    if (np.diag(far) < 0).any():
        return None
    number, fixed = np.zeros(names, dtype=np.int64), [0]
    for one in (1 + generator.permutation(names - 1)).tolist():
        most = (number[fixed] + far[fixed, one]).min()
        least = (number[fixed] - far[one, fixed]).max()
        number[one] = generator.integers(least, most + 1)
        fixed.append(one)
    return np.asarray(difference + number[:rows, None] - number[rows:])


def _draw(torus: Torus, taken: Signs, rings: Ints, generator: np.random.Generator) -> None:
    """Draw all coefficients of rings, with their shifts in the other releases, in place."""
    releases, chains, _, length = taken.shape
    logs = torus.of_rings(taken, rings).reshape(releases, -1, length, 27)
    weight = np.exp(logs - logs.max(axis=-1, keepdims=True)).astype(np.float32)
    own = taken[:, :, rings].reshape(releases, -1, length).astype(np.int64)
    less = own[0] - own
    # One row for each ring of each chain and all shifts that it can have, in each further release.
    lowest, most = _shift_ranges(less)
    number = most - lowest + 1
    rows = number.prod(axis=0)
    pair = np.repeat(np.arange(len(rows)), rows)
    begins = np.cumsum(rows) - rows
    place = np.arange(len(pair)) - begins[pair]
    shifts = np.zeros((releases, len(pair)), dtype=np.int64)
    table = weight[0][pair]
    for release in range(1, releases):
        place, rest = np.divmod(place, number[release - 1][pair])
        shifts[release] = lowest[release - 1][pair] + rest
        table *= _other(weight[release], pair, less[release][pair] + shifts[release][:, None])
    row, value = _of_ring(table.reshape(-1, length, 3, 3, 3), begins, generator)
    for release in range(releases):
        now = value - 1 - less[release] - shifts[release][row][:, None]
        taken[release][:, rings] = now.reshape(chains, len(rings), length)


def _shift_ranges(less: Ints) -> tuple[Ints, Ints]:
    """The least and the largest shift of each ring in each further release."""
    return -2 - less[1:].min(axis=2), 2 - less[1:].max(axis=2)


def _other(weight: Singles, pair: Ints, less: Ints) -> Singles:
    """Another release's weights by the coefficients of the first, (rows, length, 27)."""
    length = weight.shape[1]
    padded = np.concatenate([weight, np.zeros((*weight.shape[:2], 1), dtype=weight.dtype)], axis=2)
    at = np.zeros((*less.shape, 27), dtype=np.int32)
    for place, beside in enumerate((1, 0, -1)):
        mine = TRIPLES[:, place] - np.roll(less, beside, axis=1)[..., None].astype(np.int32)
        at += np.where(np.abs(mine) <= 1, (mine + 1) * 3 ** (2 - place), 27)
    np.minimum(at, 27, out=at)
    at += ((pair[:, None] * length + np.arange(length)) * 28)[..., None].astype(np.int32)
    return np.asarray(padded.reshape(-1)[at])


def _of_ring(table: Singles, begins: Ints, generator: np.random.Generator) -> tuple[Ints, Ints]:
    """One row of each set of rows, and the coefficients + 1 around the ring.

    Parameters
    ----------
    table : float32 (rows, length, 3, 3, 3)
        Weights of each coefficient with the one before and the one after.
    begins : int64 (sets,)
        The first row of each set.
    """
    rows, length = table.shape[:2]
    # By the first two coefficients, and the two that were taken in last.
    state = np.zeros((rows, 9, 3, 3), dtype=np.float32)
    state[:, np.arange(9), np.arange(9) // 3, np.arange(9) % 3] = 1.0
    states, scale = [state], np.zeros(rows)
    for at in range(1, length - 1):
        one = table[:, at, None]
        # A sum over an axis of three takes longer than its terms.
        terms = [state[:, :, a, :, None] * one[:, :, a] for a in range(3)]
        state = terms[0]
        state += terms[1]
        state += terms[2]
        top = state.reshape(rows, -1).max(axis=1)
        top[top == 0.0] = 1.0
        state /= top[:, None, None, None]
        scale += np.log(top)
        states.append(state)
    closing = np.einsum("zabx,zbxy->zxyab", table[:, -1], table[:, 0]).reshape(state.shape)
    ends = (state * closing).reshape(rows, 81)
    with np.errstate(divide="ignore"):
        logs = np.log(ends.sum(axis=1)) + scale
    logs -= np.repeat(np.maximum.reduceat(logs, begins), np.diff([*begins, rows]))
    row = _pick_row(np.exp(logs), begins, generator)
    end = _pick(ends[row], generator)
    start, value = end // 9, np.zeros((len(row), length), dtype=np.int64)
    value[:, 0], value[:, 1] = start // 3, start % 3
    value[:, -2], value[:, -1] = end % 9 // 3, end % 3
    for at in range(length - 2, 2, -1):
        back = states[at - 1][row, start, :, value[:, at]]
        back = back * table[row, at, :, value[:, at], value[:, at + 1]]
        value[:, at - 1] = _pick(back, generator)
    return row, value


def _pick_row(weights: Floats, begins: Ints, generator: np.random.Generator) -> Ints:
    below = np.cumsum(weights)
    before = below[begins] - weights[begins]
    ends = np.append(begins[1:], len(weights)) - 1
    wanted = before + generator.random(len(begins)) * (below[ends] - before)
    return np.asarray(np.clip(np.searchsorted(below, wanted, side="right"), begins, ends))


def _pick(weights: Singles, generator: np.random.Generator) -> Ints:
    """A column of each row, by weight."""
    below = np.cumsum(weights, axis=1, dtype=np.float64)
    wanted = generator.random((len(below), 1)) * below[:, -1:]
    chosen: Ints = (wanted >= below[:, :-1]).sum(axis=1).astype(np.int64)
    return chosen
