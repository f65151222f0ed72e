"""Records that change category at random: the matrices, the draw, and the law of the result.

A record in cell c goes to cell d with the product of its variables' chances, whatever the other
records do; so the published counts are a sum of independent multinomials, one for each cell.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.tables.domain import Domain

PARTICLES = 16
"""Ways followed side by side for one estimate."""

ESTIMATED_HELD = 4 * 10**6
"""Most chances of sums that are held at a time."""


def applied(counts: Ints, matrices: Sequence[Floats], generator: np.random.Generator) -> Ints:
    """Move every record at random; int64 like ``counts``.

    Parameters
    ----------
    counts : int64, one axis for each matrix
    matrices : float64 (categories, categories)
        Rows are true categories, columns published ones.
    """
    for axis, matrix in enumerate(matrices):
        if (matrix == np.eye(len(matrix))).all():
            continue
        before = np.moveaxis(counts, axis, -1)
        after = np.zeros_like(before)
        for category, row in enumerate(matrix):
            _go(before[..., category], category, row / row.sum(), after, generator)
        counts = np.moveaxis(after, -1, axis)
    return np.ascontiguousarray(counts)


def _go(held: Ints, category: int, row: Floats, after: Ints, generator: np.random.Generator) -> None:
    """Move the records of one category into ``after``, whose last axis is the categories."""
    staying = generator.binomial(held, min(float(row[category]), 1.0))
    after[..., category] += staying
    leaving = held - staying
    many, others = int(leaving.sum()), np.where(np.arange(len(row)) == category, 0.0, row)
    if not many:
        return
    others = others / others.sum()
    if many > leaving.size * len(row) // 4:
        after += generator.multinomial(leaving, others)
        return
    # Few records in many cells: one by one.
    ends = np.cumsum(others)
    to = np.searchsorted(ends, generator.random(many) * ends[-1], side="right")
    cell = np.repeat(np.arange(leaving.size), leaving.reshape(-1)) * len(row) + to
    after += np.bincount(cell, minlength=after.size).reshape(after.shape)


def shares(counts: Ints) -> Ints:
    """The share of each category in whole percent, adding up to 100: so coarse it discloses little."""
    total = int(counts.sum())
    exact = 100.0 * counts / total if total else np.full(len(counts), 100.0 / len(counts))
    whole = np.floor(exact).astype(np.int64)
    order = np.argsort(whole - exact, kind="stable")
    whole[order[: 100 - int(whole.sum())]] += 1
    return whole


def blocks(domain: Domain, matrices: Mapping[str, Floats]) -> list[Ints]:
    """The flat cells that records can move between, (cells,) each; they keep their total."""
    from scipy.sparse.csgraph import connected_components  # a third of the program's start

    keys = np.zeros(domain.shape, dtype=np.int64)
    for axis, variable in enumerate(domain.variables):
        number, label = connected_components(matrices[variable.name] > 0, directed=False)
        keys = keys * number + label.reshape([-1 if a == axis else 1 for a in range(domain.ndim)])
    flat = keys.reshape(-1)
    order = np.argsort(flat, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(flat[order])) + 1)


def between(domain: Domain, matrices: Mapping[str, Floats], cells: Ints) -> Floats:
    """Chances of going from each cell to each other one, float64 (cells, cells)."""
    out = np.ones((len(cells), len(cells)))
    at = np.unravel_index(cells, domain.shape)
    for variable, codes in zip(domain.variables, at, strict=True):
        out *= matrices[variable.name][np.ix_(codes, codes)]
    return out


def elements_touched(out: Ints) -> float:
    """Estimate the array elements that the exact probability of a block touches."""
    sizes = np.sort(out)[:-1] + 1.0
    return float(out.sum()) * len(out) * float(np.exp(np.minimum(np.log(sizes).sum(), 60.0)))


def log_chance(x: Ints, out: Ints, chances: Floats) -> float:
    """log P(out | x) of one block exactly: every record multiplies a polynomial.

    Parameters
    ----------
    x, out : int64 (cells,)
    chances : float64 (cells, cells)
    """
    if int(x.sum()) != int(out.sum()):
        return -math.inf
    # The largest count is what the others leave.
    order = np.argsort(out, kind="stable")
    out, chances = out[order], chances[:, order]
    law = np.zeros(tuple(out[:-1] + 1))
    law[(0,) * law.ndim] = 1.0
    log = 0.0
    for cell, many in enumerate(x.tolist()):
        for _ in range(many):
            before, law = law, law * chances[cell, -1]
            for axis in range(law.ndim):
                ahead = tuple(slice(1, None) if a == axis else slice(None) for a in range(law.ndim))
                back = tuple(slice(-1) if a == axis else slice(None) for a in range(law.ndim))
                law[ahead] += chances[cell, axis] * before[back]
            peak = float(law.max())
            if peak == 0.0:
                return -math.inf
            law /= peak
            log += math.log(peak)
    found = float(law[(-1,) * law.ndim])
    return log + math.log(found) if found > 0.0 else -math.inf


def log_estimates(x: Ints, out: Ints, chances: Floats, generator: np.random.Generator) -> Floats:
    """The logs of unbiased estimates of P(out | x) of one block, float64 (originals,).

    Particles fill the published cells one after the other: how many records of each true cell
    went there is drawn given their sum, whose probability weighs the particle. The chances are
    first scaled (by columns, then rows) so that the expected counts are the published ones; the
    result is corrected for the scales.

    Parameters
    ----------
    x : int64 (originals, cells)
    out : int64 (cells,)
    chances : float64 (cells, cells)
    """
    found = np.full(len(x), -np.inf)
    rows, columns = (x > 0).any(axis=0), out > 0
    here, out, chances = x[:, rows], out[columns], chances[np.ix_(rows, columns)]
    if not here.size:
        return np.where((x.sum(axis=1) == 0) & (out.sum() == 0), 0.0, found)
    going = chances > 0
    possible = here.sum(axis=1) == out.sum()
    possible &= ~((here > 0) & ~going.any(axis=1)).any(axis=1)
    possible &= ((here > 0).astype(np.int64) @ going.astype(np.int64) > 0).all(axis=1)
    chosen = np.flatnonzero(possible)
    held = PARTICLES * (int(out.max(initial=0)) + 1) * (here.shape[1] + 1)
    at_once = max(1, ESTIMATED_HELD // held)
    for begin in range(0, len(chosen), at_once):
        some = chosen[begin : begin + at_once]
        found[some] = _some_estimates(here[some], out, chances, generator)
    return found


def _some_estimates(x: Ints, out: Ints, chances: Floats, generator: np.random.Generator) -> Floats:
    """The estimates of as many originals as are held at once; none is impossible at sight."""
    number = len(x)
    scale = _scales(x, out, chances)
    whole = scale @ chances.T
    log = (x * np.log(np.where(x > 0, whole, 1.0))).sum(axis=1)
    log -= np.log(np.maximum(scale, 1e-300)) @ out
    left = np.repeat(x, PARTICLES, axis=0)
    weight = np.zeros((number, PARTICLES))
    order = np.argsort(-out, kind="stable")
    rest = whole
    with np.errstate(divide="ignore", invalid="ignore"):
        for place, cell in enumerate(order[:-1].tolist()):
            share = np.where(rest > 0, np.minimum(scale[:, [cell]] * chances[:, cell] / rest, 1), 0)
            gone, logs = _filled(left, np.repeat(share, PARTICLES, axis=0), int(out[cell]), generator)
            left = np.maximum(left - gone, 0)
            # Summed anew: differences would leave a trace of those who have nowhere to go.
            rest = scale[:, order[place + 1 :]] @ chances[:, order[place + 1 :]].T
            # Who cannot go anywhere else must not be left.
            lost = ((left > 0) & np.repeat(rest <= 0, PARTICLES, axis=0)).any(axis=1)
            weight += np.where(lost, -np.inf, logs).reshape(weight.shape)
            weight, log, left = _resampled(weight, log, left, generator)
        peak = weight.max(axis=1)
        share = np.exp(weight - np.where(peak > -np.inf, peak, 0.0)[:, None]).mean(axis=1)
        return np.asarray(log + peak + np.log(share))


def _scales(x: Ints, out: Ints, chances: Floats) -> Floats:
    """Scales of the columns by which the published counts are those expected of the originals.

    Returns
    -------
    float64 (originals, columns)
    """
    scale = np.ones((len(x), len(out)))
    for _ in range(200):
        each = np.maximum(scale @ chances.T, 1e-300)
        expected = scale * ((x / each) @ chances)
        scale *= out / np.maximum(expected, 1e-300)
        scale /= scale.max(axis=1, keepdims=True)
        if np.abs(expected - out).max() < 1e-6:
            break
    return scale


def _resampled(
    weight: Floats, log: Floats, left: Ints, generator: np.random.Generator
) -> tuple[Floats, Floats, Ints]:
    """Particles drawn anew, of equal weight, for the originals of which few carry all."""
    peak = weight.max(axis=1)
    alive = peak > -np.inf
    chance = np.exp(weight - np.where(alive, peak, 0.0)[:, None])
    few = alive & (chance.sum(axis=1) ** 2 < 0.5 * PARTICLES * (chance**2).sum(axis=1))
    if not few.any():
        return weight, log, left
    own = np.flatnonzero(few)
    spots = (np.arange(PARTICLES) + generator.random((len(own), 1))) / PARTICLES
    ends = np.cumsum(chance[own], axis=1)
    ends /= ends[:, -1:]
    chosen = (ends[:, None, :] <= spots[:, :, None]).sum(axis=2)
    chosen = np.minimum(chosen, PARTICLES - 1) + PARTICLES * own[:, None]
    taken = PARTICLES * own[:, None] + np.arange(PARTICLES)
    log, weight, moved = log.copy(), weight.copy(), left.copy()
    log[own] += peak[own] + np.log(chance[own].mean(axis=1))
    weight[own] = 0.0
    moved[taken.reshape(-1)] = left[chosen.reshape(-1)]
    return weight, log, moved


def _filled(left: Ints, share: Floats, count: int, generator: np.random.Generator) -> tuple[Ints, Floats]:
    """Draw how many of ``left`` go, Binomial(left, share) each, given that ``count`` go in all.

    Parameters
    ----------
    left : int64 (particles, cells)
    share : float64 (particles, cells)

    Returns
    -------
    gone : int64 (particles, cells)
    logs : float64 (particles,)
        Log probability that ``count`` go.
    """
    particles, cells = left.shape
    # Particles side by side in memory: each step is then one sweep over all of them.
    laws, sums = [], [np.zeros((count + 1, particles))]
    sums[0][0] = 1.0
    # The most that can have gone up to a cell: sums beyond it are 0.
    most = 0
    for cell in range(cells):
        law = _binomial(left[:, cell], share[:, cell], count)
        laws.append(law)
        before, joined = sums[-1], np.zeros_like(sums[0])
        product = np.empty_like(joined)
        for many in np.flatnonzero(law.any(axis=1)).tolist():
            width = min(most, count - many) + 1
            part = np.multiply(law[many], before[:width], out=product[:width])
            joined[many : many + width] += part
        most = min(count, most + len(law) - 1)
        sums.append(joined)
    gone = np.zeros_like(left)
    due = np.full(particles, count)
    column = np.arange(particles)
    for cell in reversed(range(cells)):
        law = laws[cell]
        at = due - np.arange(len(law))[:, None]
        weight = np.where(at >= 0, law * sums[cell][np.maximum(at, 0), column], 0.0)
        cumulative = np.cumsum(weight, axis=0)
        u = generator.random(particles) * cumulative[-1]
        gone[:, cell] = np.minimum((cumulative <= u).sum(axis=0), len(law) - 1)
        due -= gone[:, cell]
    return gone, np.log(sums[-1][count])


def _binomial(total: Ints, share: Floats, most: int) -> Floats:
    """Chances of 0..most of Binomial(total, share), float64 (most + 1, totals)."""
    largest = int(total.max(initial=0))
    most = min(most, largest)
    factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1.0, largest + 1.0)))])
    k = np.arange(most + 1)[:, None]
    rest = total - k
    inside = rest >= 0
    rest = np.maximum(rest, 0)
    # A power of nothing is 1, of 0 it is 0.
    gone = np.where(k > 0, k * np.log(share), 0.0)
    stayed = np.where(rest > 0, rest * np.log1p(-share), 0.0)
    logs = factorials[total] - factorials[k] - factorials[rest] + gone + stayed
    return np.asarray(np.where(inside, np.exp(logs), 0.0))


def estimated_cost(out: Ints) -> float:
    """Microseconds of the estimate of one original among many, roughly."""
    # Every published cell takes the sums of what came from each true one.
    steps = (out + 1.0).sum() * (np.minimum(2.0 * out, out.max(initial=0)) + 10.0).sum()
    return float(PARTICLES * (0.002 * steps + 0.6 * len(out) ** 2))
