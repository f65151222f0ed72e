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

PARTICLES = 64


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


def _go(
    held: Ints,
    category: int,
    row: Floats,
    after: Ints,
    generator: np.random.Generator,
) -> None:
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


def log_estimate(x: Ints, out: Ints, chances: Floats, generator: np.random.Generator) -> float:
    """The log of an unbiased estimate of P(out | x) of one block.

    Particles fill the published cells one after the other: how many records of each true cell
    went there is drawn given their sum, whose probability weighs the particle. The chances are
    first scaled (by columns, then rows) so that the expected counts are the published ones; the
    result is corrected for the scales.
    """
    if int(x.sum()) != int(out.sum()):
        return -math.inf
    rows, columns = x > 0, out > 0
    x, out, chances = x[rows], out[columns], chances[np.ix_(rows, columns)]
    if not len(x):
        return 0.0
    if (chances.sum(axis=1) <= 0).any() or (chances.sum(axis=0) <= 0).any():
        return -math.inf
    scale = np.ones(len(out))
    for _ in range(200):
        expected = (x[:, None] * chances * scale / (chances @ scale)[:, None]).sum(axis=0)
        scale *= out / np.maximum(expected, 1e-300)
        scale /= scale.max()
        if np.abs(expected - out).max() < 1e-6:
            break
    chances = chances * scale
    whole = chances.sum(axis=1)
    log = float(x @ np.log(whole) - out @ np.log(np.maximum(scale, 1e-300)))
    left = np.repeat(x[None], PARTICLES, axis=0)
    weight = np.zeros(PARTICLES)
    order = np.argsort(-out, kind="stable")
    for number, cell in enumerate(order[:-1].tolist()):
        rest = chances[:, order[number:]].sum(axis=1)
        share = np.divide(chances[:, cell], rest, out=np.zeros(len(x)), where=rest > 0)
        gone, logs = _filled(left, np.minimum(share, 1.0), int(out[cell]), generator)
        left, weight = np.maximum(left - gone, 0), weight + logs
        # Who cannot go anywhere else must not be left.
        later = chances[:, order[number + 1 :]].sum(axis=1)
        weight[(left[:, later <= 0] > 0).any(axis=1)] = -np.inf
        peak = float(weight.max())
        if peak == -math.inf:
            return -math.inf
        chance = np.exp(weight - peak)
        if chance.sum() ** 2 < 0.5 * PARTICLES * (chance**2).sum():
            log += peak + math.log(chance.mean())
            spots = (np.arange(PARTICLES) + generator.random()) / PARTICLES
            chosen = np.searchsorted(np.cumsum(chance / chance.sum()), spots, side="right")
            left, weight = left[np.minimum(chosen, PARTICLES - 1)], np.zeros(PARTICLES)
    peak = float(weight.max())
    return log + peak + math.log(float(np.exp(weight - peak).mean()))


def _filled(
    left: Ints, share: Floats, count: int, generator: np.random.Generator
) -> tuple[Ints, Floats]:
    """Draw how many of ``left`` go, Binomial(left, share) each, given that ``count`` go in all.

    Returns
    -------
    gone : int64 (particles, cells)
    logs : float64 (particles,)
        Log probability that ``count`` go.
    """
    particles, cells = left.shape
    laws, sums = [], [np.zeros((particles, count + 1))]
    sums[0][:, 0] = 1.0
    for cell in range(cells):
        law = _binomial(left[:, cell], float(share[cell]), count)
        laws.append(law)
        joined = np.zeros_like(sums[0])
        for many in range(law.shape[1]):
            joined[:, many:] += law[:, many, None] * sums[-1][:, : count + 1 - many]
        sums.append(joined)
    gone = np.zeros_like(left)
    due = np.full(particles, count)
    row = np.arange(particles)
    for cell in reversed(range(cells)):
        law = laws[cell]
        at = due[:, None] - np.arange(law.shape[1])
        weight = np.where(at >= 0, law * sums[cell][row[:, None], np.maximum(at, 0)], 0.0)
        cumulative = np.cumsum(weight, axis=1)
        u = generator.random(particles) * cumulative[:, -1]
        gone[:, cell] = np.minimum((cumulative <= u[:, None]).sum(axis=1), law.shape[1] - 1)
        due -= gone[:, cell]
    with np.errstate(divide="ignore"):
        return gone, np.log(sums[-1][:, count])


def _binomial(total: Ints, share: float, most: int) -> Floats:
    """Chances of 0..most of Binomial(total, share), float64 (totals, most + 1)."""
    most = min(most, int(total.max(initial=0)))
    if share >= 1.0 or share <= 0.0:
        hit = total if share >= 1.0 else np.zeros_like(total)
        return np.asarray(np.arange(most + 1) == hit[:, None], dtype=np.float64)
    from scipy.special import gammaln  # a third of the program's start

    k = np.arange(most + 1)
    rest = np.maximum(total[:, None] - k, 0)
    logs = gammaln(total[:, None] + 1.0) - gammaln(k + 1.0) - gammaln(rest + 1.0)
    logs = logs + k * math.log(share) + rest * math.log1p(-share)
    return np.asarray(np.where(k <= total[:, None], np.exp(logs), 0.0), dtype=np.float64)
