"""Calibration by simulation: beliefs must come true as often as they say.

Originals from the prior, through the method, then inferred: over all runs, P(true count = k) has to
add up to the number of cells whose true count is k, and what the counts were expected to be to their
sum. For the cells of every published value or status, and for all of them, those of two colours of a
chess board apart (what is wrong in neighbours may cancel). Works for everything that has a release
and a likelihood::

    found = calibrate(release_of, likelihood_of, Poisson(means), draw_original,
                      runs=2000, generator=np.random.default_rng(1))
    assert found.worst_z < LIMIT and found.bins >= 10
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.evidence import RELEASE_ALONE, Evidence
from tabprotect.engine.errors import InfeasibleError, InputError
from tabprotect.engine.parameters import Values
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import Poisson, Prior
from tabprotect.engine.protection.calibration_plan import CalibrationPlan
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import CellFactors, Likelihood, Rerun
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.testing.planted_faults import RIGHT, Misreading

LIMIT = 4.5
"""Of 50 bins, this |z| is exceeded by chance in 3 of 10,000 simulations."""

ENOUGH, ENOUGH_OF_SUM = 5.0, 25.0
"""Expected variance of the hits, of how sure readers were, or of the sum, from which a bin is judged."""

HIDDEN = "no published count"

EVERY = "every cell"

SUM = -1
"""In place of a true count: the sum of all judged ones. A fault too small for each of them adds up."""

SURENESS = -2
"""In place of a true count: how sure readers were of the true ones, as the sum of the logarithms of
their beliefs. Who takes a law for too narrow is wrong more often than such beliefs say, who takes it
for too wide less often."""

NAMES = {SUM: "sum", SURENESS: "sureness"}

MOST = 8
"""True counts up to it, and published ones up to twice it, are judged."""

IMPOSSIBLE = 1e-12
"""The belief in a true count that was held to be impossible."""

LOOK, SEEN = 20, LIMIT + 0.5
"""After so many runs each time, a planted fault whose |z| is beyond ``SEEN`` counts as found."""


class AlwaysRefused(Exception):  # noqa: N818 (what a simulation found, no fault of the program)
    """The method refuses nearly every original of a simulation."""


@dataclass(frozen=True)
class Bin:
    """Cells of one status, one true count, the sum of all or how sure of them readers were.

    Attributes
    ----------
    hits, expected
        Cells with this true count, the sum or the sureness; and what the posteriors expected.
    z
        The difference by its standard error; cells of one run may depend on each other.
    """

    hits: float
    expected: float
    z: float


@dataclass(frozen=True)
class Calibration:
    """Beliefs beside what was true.

    Attributes
    ----------
    by_status
        ``published 3, even cells``, ``no published count, odd cells`` or ``every cell, odd cells``
        -> true count, ``SUM`` or ``SURENESS`` -> bin with enough cells.
    misread
        Whether the reader took any law otherwise than it is.
    impossible
        Whether a release was impossible to the reader: a fault that shows by itself.
    """

    by_status: dict[str, dict[int, Bin]]
    misread: bool = False
    impossible: bool = False

    @property
    def bins(self) -> int:
        """Return how many bins had enough cells to be judged."""
        return sum(map(len, self.by_status.values()))

    @property
    def worst_z(self) -> float:
        """The largest |z|; 0 where no bin was judged, infinite where a release was impossible."""
        if self.impossible:
            return math.inf
        return max((abs(b.z) for found in self.by_status.values() for b in found.values()), default=0.0)

    def __str__(self) -> str:
        return "\n".join(
            f"{status:32} true {NAMES.get(count, count)}: {b.hits:g} of {b.expected:.1f}, z {b.z:+.1f}"
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
) -> Calibration:
    """Run it. An original that the method refuses is drawn again: nobody saw a release of it.

    Parameters
    ----------
    release_of
        Protects a table with the given random numbers.
    prior, draw_original
        The same distribution, as weights and as draws. A prior that is a product over cells.

    Raises
    ------
    AlwaysRefused
        When hardly an original can be protected.
    """
    tally = _Tally(likelihood_of, prior)
    for _ in range(runs):
        tally.add(*_accepted(release_of, draw_original, generator))
    return tally.calibration()


def calibrate_method(
    method: Method,
    plan: CalibrationPlan,
    *,
    likelihood_of: Callable[[Release], Likelihood] | None = None,
    readers: Sequence[Misreading] = (RIGHT,),
    seed: int = 3,
) -> tuple[Calibration, ...]:
    """The simulation that a method declares, judged by several readers at once.

    Parameters
    ----------
    likelihood_of
        What readers believe the release says; the method's own likelihood by default.
    readers
        What each gets wrong: of planted faults.

    Raises
    ------
    AlwaysRefused
        When hardly an original can be protected.
    """
    means = np.array(plan.means, dtype=np.float64)
    domain = Domain.of_shape(means.shape)
    given = method.trial_parameters(domain) if plan.parameters is None else plan.parameters
    values = method.resolve(domain, given)
    release_of = _performed(method, plan, values)
    read = remembering(likelihood_of or method.likelihood)
    tallies = [
        _Tally(read, Poisson((np.where(_odd(means.shape), reader.tilt, 1.0) * means).reshape(-1)), reader)
        for reader in readers
    ]
    generator = np.random.default_rng(seed)
    asked = list(tallies)
    for number in range(1, plan.runs + 1):
        original, release = _accepted(
            release_of, lambda drawing: Table.dense(domain, drawing.poisson(means)), generator
        )
        for tally in asked:
            tally.add(original, release)
        if number % LOOK == 0:
            # A planted fault that was seen needs no more runs; right beliefs are asked of all.
            asked = [tally for tally in asked if tally.reader.right or tally.calibration().worst_z <= SEEN]
    return tuple(tally.calibration() for tally in tallies)


def _performed(
    method: Method, plan: CalibrationPlan, values: Values
) -> Callable[[Table, np.random.Generator], Release]:
    """A function that protects an original; without chance, the same one only once."""
    known: dict[bytes, Release] = {}

    def release_of(original: Table, generator: np.random.Generator) -> Release:
        key = original.counts.tobytes()
        if key in known:
            return known[key]
        release, _ = method.perform(Problem(original, at_risk=plan.at_risk), values, generator)
        if not method.is_random(values):
            known[key] = release
        return release

    return release_of


class _Tally:
    """One reader's beliefs beside what was true, run by run."""

    def __init__(
        self, likelihood_of: Callable[[Release], Likelihood], prior: Prior, reader: Misreading = RIGHT
    ) -> None:
        self._likelihood_of, self._prior, self.reader = likelihood_of, prior, reader
        self._misread = self._impossible = False
        self._known: dict[object, tuple[np.ndarray, Floats]] = {}
        # Status -> hits, expected, squared differences by run, variance; of every true count, of all.
        self._sums: dict[str, Floats] = {}

    def add(self, original: Table, release: Release) -> None:
        """One run."""
        counts, key = np.arange(MOST + 1), _key(release)
        if key not in self._known:
            randomness = Randomness.seeded(len(self._known))
            law = self._likelihood_of(release)
            read = self.reader.misread(law)
            self._misread |= read is not law
            try:
                found = believe(
                    [Evidence(release, read)], self._prior, knowing=RELEASE_ALONE, randomness=randomness
                ).posterior
            except (InfeasibleError, InputError):
                if self.reader.right:
                    raise
                self._impossible = True
                return
            self._known[key] = (_statuses(found), _beliefs(found, counts))
        status, belief = self._known[key]
        hit = original.counts.reshape(-1)[:, None] == counts
        mean = belief @ counts
        sure, *expected_sure = _sureness(hit, belief)
        # By cell: what was, what was expected, and its variance; of every count, of their sum and
        # of how sure of them a reader was.
        was = np.column_stack([hit, hit @ counts, sure])
        expected = np.column_stack([belief, mean, expected_sure[0]])
        spread = belief @ counts**2 - mean**2
        variance = np.column_stack([belief * (1 - belief), spread, expected_sure[1]])
        for name in set(status.ravel().tolist()) - {""}:
            mine = (status == name).any(axis=0)
            h, p = was[mine].sum(axis=0), expected[mine].sum(axis=0)
            figures = np.stack([h, p, (h - p) ** 2, variance[mine].sum(axis=0)], axis=1)
            self._sums[name] = self._sums.get(name, 0.0) + figures

    def calibration(self) -> Calibration:
        """Calibrate over all runs."""
        by_status: dict[str, dict[int, Bin]] = {}
        for name, figures in sorted(self._sums.items()):
            for k, (hits, expected, square, spread) in zip(
                (*range(MOST + 1), SUM, SURENESS), figures, strict=True
            ):
                if max(spread, abs(hits - expected)) >= (ENOUGH_OF_SUM if k == SUM else ENOUGH):
                    # What was seen alone is too small where, by chance, few hits were seen.
                    error = max(square, spread) ** 0.5
                    z = float((hits - expected) / error)
                    by_status.setdefault(name, {})[k] = Bin(float(hits), float(expected), z)
        return Calibration(by_status, self._misread, self._impossible)


def _sureness(hit: Bools, belief: Floats) -> tuple[Floats, Floats, Floats]:
    """Logarithm of the belief in what was true, its expectation and variance, each (cells,).

    All true counts beyond ``MOST`` count as one.
    """
    beyond = np.clip(1.0 - belief.sum(axis=1), 0.0, 1.0)
    chances = np.column_stack([belief, beyond])
    true = np.column_stack([hit, ~hit.any(axis=1)])
    logs = np.log(np.maximum(chances, IMPOSSIBLE))
    mean = (chances * logs).sum(axis=1)
    return (true * logs).sum(axis=1), mean, (chances * logs**2).sum(axis=1) - mean**2


def remembering(likelihood_of: Callable[[Release], Likelihood]) -> Callable[[Release], Likelihood]:
    """The same, asked once for each release; exact answers of the mechanism itself are kept."""
    known: dict[object, Likelihood] = {}

    def answer(release: Release) -> Likelihood:
        key = _key(release)
        if key not in known:
            found = likelihood_of(release)
            if isinstance(found, CellFactors) and found.rerun is not None and found.rerun.exact:
                found = replace(found, rerun=_kept(found.rerun))
            known[key] = found
        return known[key]

    return answer


def _kept(rerun: Rerun) -> Rerun:
    answers: dict[bytes, float] = {}

    def estimate(original: Table, generator: np.random.Generator) -> float:
        key = original.counts.tobytes()
        if key not in answers:
            answers[key] = rerun.estimate(original, generator)
        return answers[key]

    return replace(rerun, estimate=estimate)


def _accepted(
    release_of: Callable[[Table, np.random.Generator], Release],
    draw_original: Callable[[np.random.Generator], Table],
    generator: np.random.Generator,
) -> tuple[Table, Release]:
    for _ in range(200):
        original = draw_original(generator)
        try:
            return original, release_of(original, generator)
        except (InfeasibleError, InputError) as error:
            last = error
    raise AlwaysRefused(str(last))


def _key(release: Release) -> object:
    parts = [(t.table.domain.names, t.table.counts.tobytes(), t.hidden.tobytes()) for t in release.tables]
    return (tuple(parts), release.mechanism.to_text())


def _statuses(found: Posterior) -> np.ndarray:
    """Return of every cell, (2, cells): its own, and that it is one of all; empty where none is judged."""
    counts = found.published.counts.reshape(-1)
    text = np.array([f"published {c}" if abs(c) <= 2 * MOST else "" for c in counts], dtype=object)
    text[~found.is_published.reshape(-1)] = HIDDEN
    colour = np.where(_odd(found.domain.shape).reshape(-1), ", odd cells", ", even cells")
    judged = text != ""
    text[judged] += colour.astype(object)[judged]
    return np.stack([text, EVERY + colour.astype(object)])


def _odd(shape: tuple[int, ...]) -> Bools:
    return np.asarray(np.indices(shape).sum(axis=0) % 2 == 1)


def _beliefs(found: Posterior, counts: Ints) -> Floats:
    return np.stack([found.probability(int(k)).reshape(-1) for k in counts], axis=1)
