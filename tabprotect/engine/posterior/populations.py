"""Draws from weighted populations: what walks backwards through a mechanism have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.progress import Progress
from tabprotect.languages.messages import message

Population = Callable[[int, np.random.Generator, Callable[[float], None]], npt.NDArray[np.signedinteger]]
"""``(size, generator, report)``: draws (groups, size) of equal weight."""

POPULATIONS = 10
"""Independent populations: the spread between them is the error."""

USUAL_DRAWS = 20_000
"""Draws when no number is asked for."""

STEEP = 3.0
"""Slope (in logs per unit) at which the guide falls off over counts that the prior excludes."""


def guide_of(log_prior: Floats) -> Floats:
    """The log prior made finite, so that a walk may pass through counts at which it may not end."""
    guide = log_prior.copy()
    columns = guide.shape[1]
    for step in (1, -1):
        order = range(1, columns) if step == 1 else range(columns - 2, -1, -1)
        for c in order:
            guide[:, c] = np.maximum(guide[:, c], guide[:, c - step] - STEEP)
    return guide


def resampled(log_weight: Floats, generator: np.random.Generator, below: float) -> tuple[Ints, Ints]:
    """Systematic resampling of the rows whose weights are too uneven: these rows, and their ancestors.

    Parameters
    ----------
    log_weight : float64 (rows, draws)
    below
        Rows are resampled whose effective number of draws is below this share of all.

    Raises
    ------
    InfeasibleError
        If no draw of a row has any weight.
    """
    size = log_weight.shape[1]
    peak = log_weight.max(axis=1, keepdims=True)
    if (peak == -np.inf).any():
        raise InfeasibleError(
            message("no original table was found that fits this published table, mechanism and prior"),
            hint=message(
                "check that table and mechanism belong together, choose a wider prior, or take more draws"
            ),
        )
    weight = np.exp(log_weight - peak)
    weight /= weight.sum(axis=1, keepdims=True)
    uneven = np.flatnonzero(1.0 / (weight**2).sum(axis=1) < below * size * (1 - 1e-9))
    if not len(uneven):
        return uneven, np.zeros((0, size), dtype=np.int64)
    offset = generator.random((len(uneven), 1))
    edges = np.cumsum(weight[uneven], axis=1)
    edges /= edges[:, -1:]
    ends = np.ceil(edges * size - offset).astype(np.int64)
    copies = np.diff(np.clip(ends, 0, size), axis=1, prepend=0)
    return uneven, np.stack([np.repeat(np.arange(size), c) for c in copies])


def separate_sizes(draws: int | None, affordable: int, largest: int) -> tuple[int, int]:
    """How many draws each of several independent populations has, and how many there are.

    Parameters
    ----------
    draws
        Number in all; by default ``USUAL_DRAWS``, or as many as are affordable.
    largest
        Most draws of one.
    """
    if draws is None:
        draws = int(np.clip(affordable, 16 * POPULATIONS, USUAL_DRAWS))
    size = min(largest, -(-draws // POPULATIONS))
    return size, max(POPULATIONS, round(draws / size))


def separate(
    population: Population, size: int, number: int, generator: np.random.Generator, progress: Progress
) -> Iterator[npt.NDArray[np.signedinteger]]:
    """Draw so many independent populations, one after the other."""
    for done in range(number):

        def report(fraction: float, done: int = done) -> None:
            progress.report(message("drawing originals"), (done + fraction) / number)

        yield population(size, generator, report)


def drawn(
    population: Population,
    size: int,
    shape: tuple[int, int],
    generator: np.random.Generator,
    progress: Progress,
    *,
    independent: bool = False,
) -> npt.NDArray[np.signedinteger]:
    """Draws of a shape, (number, groups), from as few populations of a size as possible.

    Parameters
    ----------
    independent
        Whether the draws of a population are: then any of them are as good as others.
    """
    number, groups = shape
    out = np.zeros((groups, number), dtype=np.int8)
    have = 0
    while have < number:

        def report(fraction: float, done: int = have) -> None:
            progress.report(message("drawing originals"), (done + fraction * size) / max(number, size))

        left = number - have
        found = population(min(size, left) if independent else size, generator, report)
        if not independent:
            found = found[:, generator.permutation(size)[:left]]
        if out.dtype != found.dtype and not have:
            out = out.astype(found.dtype)
        out[:, have : have + found.shape[1]] = found
        have += found.shape[1]
    return out.T
