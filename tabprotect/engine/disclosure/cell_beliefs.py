"""What one reader believes of every judged cell: inner cells, and cells of published tables.

Everything comes from the release and public things. A posterior that is drawn takes its seed from
the release, so that whoever works it out again finds the same one; all limits are counted work,
never time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.budgets import BELIEVING_DRAWS as MOST_DRAWS
from tabprotect.engine.budgets import BELIEVING_FEW_PROGRAMMED as FEW_PROGRAMMED
from tabprotect.engine.budgets import BELIEVING_GLANCE as GLANCE
from tabprotect.engine.budgets import BELIEVING_GLANCE_STEPS as GLANCE_STEPS
from tabprotect.engine.budgets import BELIEVING_HELD as MOST_HELD
from tabprotect.engine.budgets import BELIEVING_LEAST_DRAWS as LEAST_DRAWS
from tabprotect.engine.budgets import BELIEVING_PROGRAMMED as PROGRAMMED
from tabprotect.engine.budgets import BELIEVING_SUMS as EXACT_SUMS
from tabprotect.engine.budgets import BELIEVING_UPDATES as UPDATES
from tabprotect.engine.budgets import BELIEVING_WEIGHING as WEIGHING
from tabprotect.engine.disclosure.proved_ends import proved_ends
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.posterior.infer import infer, multiplied, posterior_joined
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import parse_prior
from tabprotect.engine.posterior.sums import sums
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.protection.subtables import groupings_of
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import (
    AdaptiveSequence,
    CellFactors,
    Likelihood,
    MoveSequence,
)
from tabprotect.engine.release.release import Release
from tabprotect.engine.release.verdict_figures import Way
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication

LEAST_EFFECTIVE = 100.0
MIXED = 1.1
"""Fewer effective draws, or chains that agree less (R-hat), are no basis to judge by."""


CHOICE_NOTE = "What the choice of all published counts together says is left out."


@dataclass(frozen=True, eq=False)
class TableBelief:
    """What a reader believes of the cells of one table.

    Attributes
    ----------
    domain
        The table's variables.
    inner
        Whether these are the inner cells.
    judged : bool (cells,), or None
        Cells that count; the others are exact by design. ``None``: all count.
    group_of_cell, first, chances
        As in ``Posterior``; ``None`` where there is none.
    way, error, note
        As in ``TableVerdict``.
    """

    domain: Domain
    inner: bool
    judged: Bools | None
    rows: tuple[Ints, Ints, Floats] | None
    way: Way
    error: float = 0.0
    note: str = ""

    def among(self, cells: Bools) -> Ints:
        """The judged cells of some, flat."""
        return np.flatnonzero(cells if self.judged is None else cells & self.judged)

    def probability(self, counts: npt.ArrayLike, cells: Ints) -> Floats:
        """P(true count = the given one) of flat cells, (cells,)."""
        assert self.rows is not None
        group, first, chances = self.rows
        column = np.asarray(counts, dtype=np.int64) - first[cells]
        inside = (column >= 0) & (column < chances.shape[1])
        found = chances[group[cells], np.where(inside, column, 0)]
        return np.where(inside, found, 0.0)


class OfRelease(Randomness):
    """Chance that follows from a release: drawn posteriors are then functions of it."""

    def __init__(self, release: Release, what: str = "") -> None:
        super().__init__(0, given=False)
        object.__setattr__(self, "_release", release)
        object.__setattr__(self, "_what", what)

    def generator(self, attempt: int = 1) -> np.random.Generator:
        """Only where it is asked for: the digest of a large release takes its time."""
        digest = release_fingerprint(self._release, self._what)  # type: ignore[attr-defined]
        return np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "little")))


def release_fingerprint(release: Release, what: str = "") -> bytes:
    """SHA-256 of what was published and how, whatever the gate made of it."""
    mechanism = release.mechanism
    plain = type(mechanism)(mechanism.method, mechanism.domain, mechanism.parameters)
    digest = hashlib.sha256(f"{what}\n{plain.to_text(categories=True)}".encode())
    for published in release.tables:
        keys, counts = published.table.cells
        digest.update(repr(published.table.domain.names).encode())
        for array in (keys, counts, np.flatnonzero(published.hidden)):
            digest.update(np.ascontiguousarray(array, dtype="<i8").tobytes() + b"\n")
    return digest.digest()


def distinct(releases: Sequence[Release]) -> list[Release]:
    """The first of all that are one draw: a table and mechanism always get the same coins.

    The same draw under another title or signature is no further evidence.
    """
    if len(releases) < 2:
        return list(releases)
    first: dict[bytes, Release] = {}
    for release in releases:
        first.setdefault(release_fingerprint(release), release)
    return list(first.values())


@dataclass(frozen=True, eq=False)
class Believed:
    """What one reader believes of a release.

    Attributes
    ----------
    beliefs
        About every judged table.
    likelihood
        What they come from; ``None`` where there is none.
    inner
        The posterior of the inner cells; ``None`` where there is none.
    """

    beliefs: tuple[TableBelief, ...]
    likelihood: Likelihood | None
    inner: Posterior | None = None


def believed(
    release: Release,
    prior: str,
    *,
    earlier: Sequence[Release] = (),
    effort: float = 1.0,
    progress: Progress = SILENT,
) -> Believed:
    """What a reader believes of every judged table.

    Parameters
    ----------
    prior
        What is believed beforehand, as a prior's text.
    earlier
        Other releases of the same original.
    effort
        Share of the draws that are taken where a posterior is drawn.

    Raises
    ------
    InputError, ParameterError
        When the release cannot come from its mechanism.
    """
    likelihood: Likelihood | None = None
    try:
        likelihood = likelihood_of(release)
        further = distinct([release, *earlier])[1:]
        first, *others = multiplied([likelihood, *map(likelihood_of, further)])
        found = _posterior(first, prior, OfRelease(release), progress, effort)
        if others:
            found = posterior_joined(found, others, OfRelease(release), progress)
    except InfeasibleError as error:
        if isinstance(likelihood, CellFactors):
            return Believed((_bounded(likelihood, error.sentence),), likelihood)
        return Believed((_unknown(release.domain, True, error.sentence),), likelihood)
    inner = found.domain == release.domain
    out = [as_belief(found, inner=True, judged=None)] if inner else []
    means = _Means(release, prior, progress, effort)
    exact = methods()[release.mechanism.method].deliberate(release)
    for number, published in enumerate(release.tables):
        judged = None
        if exact:
            if published.suppressed is None:
                continue
            judged = published.suppressed.reshape(-1)
        if published.table.domain != found.domain:
            out.append(means.of_table(number, found if inner else None, judged))
        elif not inner:
            out.append(as_belief(found, inner=False, judged=judged))
    return Believed(tuple(out), likelihood, found if inner else None)


def at_a_glance(release: Release, progress: Progress = SILENT) -> TableBelief:
    """Belief about the table that the likelihood is about, within about a second.

    What the choice of a whole table says beyond its counts is left out. Where cells hang together in
    too many ways, only what is proved counts (its way is ``bounds``): that is less than what readers
    know.

    Raises
    ------
    InfeasibleError
        Where there is none.
    InputError, ParameterError
        When the release cannot come from its mechanism.
    """
    likelihood = likelihood_of(release)
    if not isinstance(likelihood, CellFactors):
        found = _posterior(likelihood, "uniform", OfRelease(release), progress, GLANCE)
        return as_belief(found, inner=True, judged=None)
    likelihood = replace(likelihood, rerun=None)
    try:
        found = infer(likelihood, way="exact", steps=GLANCE_STEPS, progress=progress)
    except InfeasibleError as error:
        return _bounded(likelihood, error.sentence)
    return as_belief(found, inner=True, judged=None)


def _posterior(
    likelihood: Likelihood,
    prior: str,
    randomness: Randomness,
    progress: Progress,
    effort: float,
) -> Posterior:
    """The posterior of one likelihood, within counted work.

    Raises
    ------
    InfeasibleError
        Where there is none to judge by.
    """
    draws = None
    if isinstance(likelihood, MoveSequence):
        updates = max(len(likelihood.moves.cells) * likelihood.passes, 1)
        draws = max(min(MOST_DRAWS, UPDATES // updates), 1)
    elif isinstance(likelihood, AdaptiveSequence):
        # Every step weighs all cycles.
        updates = max(len(likelihood.moves.cells) * likelihood.steps, 1)
        draws = max(min(MOST_DRAWS, UPDATES // updates), LEAST_DRAWS)
    if draws is not None:
        draws = max(int(draws * effort), min(draws, LEAST_DRAWS))
    if draws is not None and draws < LEAST_DRAWS:
        return infer(
            likelihood, parse_prior(prior, likelihood.domain), way="exact", progress=progress
        )
    rerun = likelihood.rerun if isinstance(likelihood, CellFactors) else None
    if rerun is not None and rerun.programmes and likelihood.domain.size > PROGRAMMED:
        plain = _posterior(_plain(likelihood), prior, randomness, progress, effort)
        number = plain.count_originals() if plain.way == "exact" else None
        if number is None or number > FEW_PROGRAMMED:
            return plain
        try:
            known = parse_prior(prior, likelihood.domain)
            return infer(likelihood, known, way="exact", work=WEIGHING, progress=progress)
        except InfeasibleError:
            return plain
    found = infer(
        likelihood,
        parse_prior(prior, likelihood.domain),
        randomness=randomness,
        draws=draws,
        work=WEIGHING,
        progress=progress,
    )
    if found.r_hat is not None and found.r_hat > MIXED:
        raise InfeasibleError("the simulated posterior has not settled: nothing to judge by")
    effective = found.effective_sample_size
    if effective is not None and effective < LEAST_EFFECTIVE:
        if rerun is not None:
            return _posterior(_plain(likelihood), prior, randomness, progress, effort)
        raise InfeasibleError(
            f"the simulated posterior is worth {effective:.0f} independent draws only: too few to "
            "judge by"
        )
    return found


def _plain(likelihood: Likelihood) -> CellFactors:
    """What the published counts say one by one, without the choice of them all; with a note."""
    assert isinstance(likelihood, CellFactors)
    return replace(likelihood, rerun=None, note=likelihood.note or CHOICE_NOTE)


def _way(found: Posterior) -> Way:
    if found.way == "exact":
        return "exact"
    return "exact_draws" if found.independent else "simulation"


def as_belief(found: Posterior, *, inner: bool, judged: Bools | None) -> TableBelief:
    """A posterior as the belief of its table's cells."""
    return TableBelief(
        found.domain,
        inner,
        judged,
        (found.group_of_cell, found.first, found.chances),
        _way(found),
        found.error or 0.0,
        found.note or ("Only close to what the mechanism says." if found.approximate else ""),
    )


def _unknown(domain: Domain, inner: bool, note: str) -> TableBelief:
    return TableBelief(domain, inner, None, None, "none", note=note)


def _bounded(likelihood: CellFactors, why: str) -> TableBelief:
    """Belief in what is proved, and in nothing else: cells whose ends meet."""
    lower, upper = proved_ends(likelihood)
    fixed = lower == upper
    note = f"{why} Only what follows from the limits of the published sums is counted."
    rows = (np.where(fixed, 0, 1), np.where(fixed, lower, 0), np.array([[1.0], [0.0]]))
    return TableBelief(likelihood.domain, True, None, rows, "bounds", note=note)


@dataclass(frozen=True, eq=False)
class _Means:
    """How published tables other than the posterior's own are judged."""

    release: Release
    prior: str
    progress: Progress
    effort: float

    def of_table(self, number: int, inner: Posterior | None, judged: Bools | None) -> TableBelief:
        """Belief about one of them.

        By itself where the method says so; else from sums of originals, all of them where they
        can be listed, or drawn ones.
        """
        release, domain = self.release, self.release.tables[number].table.domain
        apart = methods()[release.mechanism.method].apart(release, number)
        randomness = OfRelease(release, f"table {number}")
        try:
            if apart is not None:
                found = _posterior(apart, self.prior, randomness, self.progress, self.effort)
                return as_belief(found, inner=False, judged=judged)
            if inner is None:
                raise InfeasibleError("the posterior is not about the cells it is made of")
            return self._summed(number, inner, judged, randomness)
        except InfeasibleError as error:
            label = " × ".join(domain.names) or "the grand total"
            return _unknown(domain, False, f"{label}: {error}.")

    def _summed(
        self, number: int, inner: Posterior, judged: Bools | None, randomness: Randomness
    ) -> TableBelief:
        release, domain = self.release, self.release.tables[number].table.domain
        groupings = groupings_of(release.domain, release.mechanism.parameters)
        alone = Publication(release.domain, (domain.names,), groupings)
        size = release.domain.size
        draws = min(MOST_DRAWS, MOST_HELD // size)
        found = sums(
            inner,
            alone,
            randomness=randomness,
            # Nothing is drawn that would be too little to judge by.
            draws=draws if draws >= LEAST_DRAWS else 0,
            work=EXACT_SUMS,
            progress=self.progress,
        )[0]
        if found.draws is not None and found.draws < LEAST_DRAWS:
            raise InfeasibleError(f"so few as {found.draws:,} drawn originals say too little")
        belief = as_belief(found, inner=False, judged=judged)
        if found.effective_sample_size is None:
            return belief
        # Chances of sums that no draw met have an error, too.
        least = float(np.sqrt(0.25 / found.effective_sample_size))
        return replace(belief, error=max(inner.error or 0.0, least))
