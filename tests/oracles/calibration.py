"""Calibration by simulation: beliefs must come true as often as they say.

Originals from the prior, through the method, then inferred: over all runs, P(true count = k) has to
add up to the number of cells whose true count is k, for the cells of every published value or
status. Works for every method that has a release and a likelihood.

    found = calibrate(release_of, likelihood_of, Poisson(means), draw_original,
                      runs=2000, generator=np.random.default_rng(1))
    assert found.worst_z < 4.5 and found.bins >= 10
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import Prior
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import UNBOUNDED, CellFactors, Likelihood
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.table import Table

ENOUGH = 5.0
"""Expected variance of the hits from which a bin is judged."""

HIDDEN = "no published count"


@dataclass(frozen=True)
class Bin:
    """Cells of one status, one true count.

    Attributes
    ----------
    hits, expected
        Cells with this true count, and how many the posteriors expected.
    z
        The difference by its standard error; cells of one run may depend on each other.
    """

    hits: int
    expected: float
    z: float


@dataclass(frozen=True)
class Calibration:
    """Status (``published 3``, or ``no published count``) -> true count -> bin with enough cells."""

    by_status: dict[str, dict[int, Bin]]

    @property
    def bins(self) -> int:
        """How many bins had enough cells to be judged."""
        return sum(map(len, self.by_status.values()))

    @property
    def worst_z(self) -> float:
        """The largest |z|. Of 50 bins, 4.5 is exceeded by chance in 3 of 10,000 tests."""
        return max(abs(b.z) for found in self.by_status.values() for b in found.values())

    def __str__(self) -> str:
        return "\n".join(
            f"{status:20} true {count}: {b.hits} of {b.expected:.1f}, z {b.z:+.1f}"
            for status, found in self.by_status.items()
            for count, b in found.items()
        )


def calibrate(
    release_of: Callable[[Table, np.random.Generator], Release],
    likelihood_of: Callable[[Release], Likelihood],
    prior: Prior,
    draw_original: Callable[[np.random.Generator], Table],
    *,
    runs: int,
    generator: np.random.Generator,
    most: int = 8,
) -> Calibration:
    """Run it.

    Parameters
    ----------
    release_of
        Protects a table with the given random numbers.
    prior, draw_original
        The same distribution, as weights and as draws. A prior that is a product over cells.
    most
        True counts 0..most and published counts up to 2 most are judged.
    """
    known: dict[object, np.ndarray] = {}
    # (status, true count) -> per run sum of (hit - belief); and hits, expected, variance.
    sums: dict[tuple[str, int], list[np.ndarray]] = {}
    counts = np.arange(most + 1)
    for _ in range(runs):
        original = draw_original(generator)
        release = release_of(original, generator)
        key = _key(release)
        if key not in known:
            found = infer(likelihood_of(release), prior, randomness=Randomness.seeded(len(known)))
            known[key] = (_statuses(found, 2 * most), _beliefs(found, counts))
        status, belief = known[key]
        hit = original.counts.reshape(-1)[:, None] == counts
        for name in set(status.tolist()) - {""}:
            mine = status == name
            p, h = belief[mine], hit[mine]
            for k in range(most + 1):
                total = sums.setdefault((name, k), [np.zeros(4)])[0]
                rest = float(h[:, k].sum() - p[:, k].sum())
                spread = float((p[:, k] * (1 - p[:, k])).sum())
                total += (h[:, k].sum(), p[:, k].sum(), rest**2, spread)
    by_status: dict[str, dict[int, Bin]] = {}
    for (name, k), (total,) in sorted(sums.items()):
        hits, expected, square, spread = total
        if max(spread, abs(hits - expected)) >= ENOUGH:
            error = max(square, spread / 4) ** 0.5
            by_status.setdefault(name, {})[k] = Bin(
                int(hits), float(expected), float((hits - expected) / error)
            )
    return Calibration(by_status)


def _key(release: Release) -> object:
    parts = [
        (t.table.domain.names, t.table.counts.tobytes(), t.hidden.tobytes()) for t in release.tables
    ]
    return (tuple(parts), release.mechanism.to_text())


def _statuses(found: Posterior, most: int) -> np.ndarray:
    counts = found.published.counts.reshape(-1)
    text = np.array([f"published {c}" if c <= most else "" for c in counts], dtype=object)
    text[~found.is_published.reshape(-1)] = HIDDEN
    return text


def _beliefs(found: Posterior, counts: np.ndarray) -> np.ndarray:
    return np.stack([found.probability(int(k)).reshape(-1) for k in counts], axis=1)


def tilted(likelihood: CellFactors, slope: float = 0.4) -> CellFactors:
    """A planted fault: the factors' weights times exp(slope * true sum). Calibration must see it."""
    logs, starts = [], [0]
    for k in range(len(likelihood.low)):
        run = likelihood.logs[likelihood.log_starts[k] : likelihood.log_starts[k + 1]]
        low, high = int(likelihood.low[k]), int(likelihood.high[k])
        if not len(run) and high < UNBOUNDED:
            run = np.zeros(high - low + 1)
        logs.append(run + slope * np.arange(len(run)))
        starts.append(starts[-1] + len(run))
    return replace(
        likelihood, logs=np.concatenate(logs), log_starts=np.array(starts, dtype=np.int64)
    )
