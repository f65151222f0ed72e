"""The posterior of releases as their reader has it who also knows how they were let out.

A release that passed is the first of up to R draws that pass. Given that, an original x weighs
prior(x) K(x, y) w(x), with w = 1 + q + ... + q^(R-1) and q(x) the chance that a draw from x is
refused. Asked for, that is worked out where all originals can be listed and all their draws judged.
Else the posterior is the one that the verdict looks at, a function of mechanism and release; no
odds change by more than a factor of R for the attempts, and that is said.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.budgets import ATTEMPTS_JUDGED
from tabprotect.engine.disclosure.cell_beliefs import distinct
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.posterior.infer import Way, posterior_together
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import Prior
from tabprotect.engine.posterior.sums import laws_of
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.registered import likelihood_of
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import Likelihood, MoveSequence
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.release.stated_gate import CHANGED, UNSTATED, Gate
from tabprotect.engine.tables.table import Table

RULES = ("any_zero", "negative", "none")
"""Blocking rules whose draws are all gone through."""


@dataclass(frozen=True, eq=False)
class Read:
    """A posterior, and what became of the attempts.

    Attributes
    ----------
    posterior
        Given everything that was taken in.
    attempts_at_most
        Draws there could have been; 1 where none is stated.
    weighed
        Whether that is taken in (or changes nothing).
    repeated
        Releases that are the same draw as another: they were left out.
    """

    posterior: Posterior
    attempts_at_most: int = 1
    weighed: bool = True
    repeated: int = 0

    @property
    def sentence(self) -> str:
        """What is left out, in words; empty where nothing is."""
        said = []
        if self.repeated:
            of = "One release is" if self.repeated == 1 else f"{self.repeated} releases are"
            said.append(f"{of} the same draw as another, which tells nothing more.")
        if not self.weighed:
            said.append(
                f"Up to {self.attempts_at_most} draws were made until one passed the gate: no odds "
                f"differ by more than a factor of {self.attempts_at_most} for that."
            )
        return " ".join(said)


def read_releases(
    releases: Sequence[Release],
    prior: Prior,
    *,
    way: Way = "auto",
    randomness: Randomness | None = None,
    draws: int | None = None,
    weigh_attempts: bool = False,
    bundled: bool = True,
    likelihoods: Sequence[Likelihood] = (),
    progress: Progress = SILENT,
) -> Read:
    """What a reader believes given all releases of one original.

    Parameters
    ----------
    weigh_attempts
        Whether to take in that the release is the first draw that passed, where that is possible.
    bundled
        Whether the mechanisms are those of bundles, which state their gate (and not somebody's own).
    likelihoods
        Of the first releases, where they are known already.

    Raises
    ------
    InputError, InfeasibleError, ParameterError
        As ``likelihood_of`` and ``together``.
    """
    built = dict(zip(map(id, releases), likelihoods, strict=False))
    given, releases = len(releases), distinct(releases)
    repeated = given - len(releases)
    own = [built.get(id(release)) or likelihood_of(release) for release in releases]
    found = posterior_together(
        own, prior, way=way, randomness=randomness, draws=draws, progress=progress
    )
    gates = [release.mechanism.gate for release in releases]
    said = [found.note]
    said += [CHANGED] if any(gate is not None and gate.changed for gate in gates) else []
    said += [UNSTATED] if bundled and None in gates else []
    found = replace(found, note=" ".join(filter(None, said)))
    passed = [gate for gate in gates if gate is not None and gate.passed]
    attempts = max((gate.attempts_at_most for gate in passed), default=1)
    if attempts == 1:
        return Read(found, repeated=repeated)
    first = own[0]
    if (
        not weigh_attempts
        or len(releases) > 1
        or not isinstance(first, MoveSequence)
        or way == "monte_carlo"
    ):
        return Read(found, attempts, weighed=False, repeated=repeated)
    again = _weighed(found, releases[0], first, passed[0], progress)
    if again is None:
        return Read(found, attempts, weighed=False, repeated=repeated)
    return Read(again, attempts, repeated=repeated)


def _weighed(
    found: Posterior, release: Release, likelihood: MoveSequence, gate: Gate, progress: Progress
) -> Posterior | None:
    """The posterior given that the release is the first that passed; ``None`` beyond the work."""
    steps = len(likelihood.moves) * likelihood.passes
    if likelihood.rule not in RULES or 3**steps > ATTEMPTS_JUDGED or found.way != "exact":
        return None
    number = found.count_originals()
    listed = found.list_originals() if number is not None and number <= ATTEMPTS_JUDGED else None
    if listed is None:
        return None
    tables, weights = listed
    laws = [forward_law(likelihood, table) for table in tables]
    outcomes = set(itertools.chain.from_iterable(laws))
    if len(outcomes) > ATTEMPTS_JUDGED:
        return None
    refused: set[bytes] = set()
    for done, outcome in enumerate(sorted(outcomes)):
        progress.report("judging other draws", done / len(outcomes))
        counts = np.frombuffer(outcome, dtype=np.int64).reshape(release.domain.shape)
        other = PublishedTable(Table.dense(release.domain, counts))
        if not verdict(replace(release, tables=(other,)), gate, progress=progress).accepted:
            refused.add(outcome)
    if not refused:
        return found
    chance = np.array([sum(p for y, p in law.items() if y in refused) for law in laws])
    factors = sum(chance**k for k in range(gate.attempts_at_most))
    return _with_weights(found, tables, weights * factors / float(weights @ factors))


def forward_law(likelihood: MoveSequence, table: Ints) -> dict[bytes, float]:
    """P(release | original) of every release, by the bytes of its counts (cells,)."""
    law: dict[bytes, float] = {np.ascontiguousarray(table, dtype=np.int64).tobytes(): 1.0}
    coins = ((1, likelihood.alpha), (-1, likelihood.beta), (0, likelihood.gamma))
    for step in range(len(likelihood.moves) * likelihood.passes):
        cells, signs = likelihood.moves.entries(step % len(likelihood.moves))
        after: dict[bytes, float] = {}
        for before, chance in law.items():
            counts = np.frombuffer(before, dtype=np.int64)
            stuck = likelihood.rule == "any_zero" and bool((counts[cells] == 0).any())
            for sign, share in coins:
                if not share:
                    continue
                moved = counts.copy()
                moved[cells] += sign * signs
                below = likelihood.rule == "negative" and bool((moved[cells] < 0).any())
                key = before if stuck or below else moved.tobytes()
                after[key] = after.get(key, 0.0) + chance * share
        law = after
    return law


def _with_weights(found: Posterior, tables: Ints, weights: Floats) -> Posterior:
    """The same posterior with other weights of its originals."""
    first, chances = laws_of(tables, weights)
    cumulative = np.cumsum(weights)

    def draw(number: int, generator: np.random.Generator, progress: Progress) -> Ints:
        at = np.searchsorted(cumulative, generator.random(number) * cumulative[-1], side="right")
        return np.asarray(tables[np.minimum(at, len(tables) - 1)], dtype=np.int64)

    return replace(
        found,
        group_of_cell=np.arange(len(first)),
        first=first,
        chances=chances,
        draw_originals=draw,
        list_originals=lambda: (tables, weights),
        exact_sums=None,
    )
