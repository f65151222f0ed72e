"""The posterior over originals with weights, all that there are or drawn ones."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.posterior.factors.solved_parts import no_original
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.progress import Progress
from tabprotect.languages.messages import message


@dataclass(frozen=True, eq=False)
class Weighed:
    """Originals with their weights.

    Attributes
    ----------
    tables : int64 (originals, unknown cells)
    weights : float64 (batches, originals)
        One row where they are exact.
    listed
        Whether these are all originals (or drawn ones).
    tried
        How many were weighed: all listed ones, or the drawn ones with those of weight 0.
    """

    tables: Ints
    weights: Floats
    listed: bool
    tried: int

    @property
    def effective(self) -> float:
        """Return what drawn originals are worth as independent draws: the number kept of weights 0 and 1."""
        total, square = float(self.weights.sum()), float((self.weights**2).sum())
        return total**2 / square if square else 0.0

    @property
    def alike(self) -> bool:
        """True if all that were kept have one weight."""
        return bool((self.weights == self.weights.reshape(-1)[0]).all())

    @property
    def basis(self) -> str:
        """Say what was weighed, in words."""
        left = int((self.weights > 0).any(axis=0).sum())
        if self.listed:
            return message(
                "Judged with the choice of the published numbers: of {tried:,} tables that fit "
                "{left:,} are left.",
                self.tried,
                left,
            )
        return message(
            "Judged with the choice of the published numbers: of {tried:,} tables drawn {left:,} give them.",
            self.tried,
            left,
        )


def width(tables: Ints) -> int:
    """The widest range of counts of any cell."""
    return int((tables.max(axis=0) - tables.min(axis=0)).max(initial=0)) + 1


def _laws(weighed: Weighed, mean: Floats) -> tuple[Floats, Floats]:
    """The laws of the unknown cells and of a known one (cells + 1, counts), and their errors.

    Parameters
    ----------
    mean : float64 (originals,)
        The probability of each original.
    """
    tables, weights, first = weighed.tables, weighed.weights, weighed.tables.min(axis=0)
    exact = weighed.listed and len(weights) == 1
    chances = np.zeros((tables.shape[1] + 1, width(tables)))
    chances[-1, 0] = 1.0
    errors = np.zeros_like(chances)
    batches = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
    for k in range(tables.shape[1]):
        column = tables[:, k] - first[k]
        chances[k] = np.bincount(column, weights=mean, minlength=chances.shape[1])
        if exact:
            continue
        if weighed.listed:
            each = [np.bincount(column, weights=b, minlength=chances.shape[1]) for b in batches]
            errors[k] = np.std(each, axis=0, ddof=1) / math.sqrt(len(each))
        else:
            # Error of a ratio of means: the spread of weight times (indicator - share).
            square = np.bincount(column, weights=mean**2, minlength=chances.shape[1])
            share = chances[k]
            spread = square * (1 - 2 * share) + share**2 * float((mean**2).sum())
            # Rounding can leave slightly negative values where nothing varies.
            errors[k] = np.sqrt(np.maximum(spread, 0.0))
    return chances, errors


def over_weighed(found: Posterior, weighed: Weighed, unknown: Ints) -> Posterior:
    """The posterior over weighed originals."""
    tables, weights = weighed.tables, weighed.weights
    mean = weights.mean(axis=0)
    if not mean.sum() > 0:
        raise no_original()
    mean = mean / mean.sum()
    first = tables.min(axis=0)
    exact = weighed.listed and len(weights) == 1
    chances, errors = _laws(weighed, mean)
    group = np.full(len(found.group_of_cell), len(unknown), dtype=np.int64)
    group[unknown] = np.arange(len(unknown))
    start = found.first + np.argmax(found.chances > 0, axis=1)[found.group_of_cell]
    start[unknown] = first
    base = start.copy()

    def draw(number: int, generator: np.random.Generator, progress: Progress) -> Ints:
        progress.report(message("drawing tables"), 0.0)
        out = np.tile(base, (number, 1))
        out[:, unknown] = tables[generator.choice(len(tables), number, p=mean)]
        return out

    def whole(cells: Ints, shares: Floats) -> tuple[Ints, Floats]:
        possible = shares > 0
        out = np.tile(base, (int(possible.sum()), 1))
        out[:, unknown] = cells[possible]
        return out, shares[possible]

    spread, noise = float((chances * (1 - chances)).sum()), float((errors**2).sum())
    return replace(
        found,
        way="exact" if exact else "monte_carlo",
        reason=(
            message("every original that fits was weighed by the whole mechanism")
            if weighed.listed
            else message("drawn originals were weighed by the whole mechanism")
        ),
        group_of_cell=group,
        first=start,
        chances=chances,
        draw_originals=draw,
        count_originals=(lambda: int((mean > 0).sum())) if exact else (lambda: None),
        list_originals=(lambda: whole(tables, mean)) if exact else (lambda: None),
        exact_sums=None,
        standard_errors=None if exact else errors,
        error=None if exact else float(errors.max(initial=0.0)),
        effective_sample_size=None if exact else spread / noise if noise else float(len(tables)),
        draws=None if exact else len(weights) * weighed.tried,
        # What is kept by weights of 0 and 1 are draws from the posterior itself.
        independent=not weighed.listed and found.way == "exact" and weighed.alike,
        basis=weighed.basis,
        note="",
        approximate=False,
        left_out=(),
    )
