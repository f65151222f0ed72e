"""One reader's beliefs about every judged cell: inner cells, and cells of published tables.

Everything follows from the release and public facts. A posterior that is drawn takes its seed from
the release, so that anyone who computes it again gets the same; all limits are counted work, never
time.

Without a posterior, proved bounds of every inner cell are used: no original lies outside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.effort import GLANCE, LEAST_DRAWS, VERDICT, Effort
from tabprotect.engine.belief.evidence import (
    RELEASE_ALONE,
    Evidence,
    OfRelease,
    WeighRefused,
    release_fingerprint,
)
from tabprotect.engine.belief.of_table import law_of_its_own
from tabprotect.engine.bounds.propagation import propagated
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.posterior.margins import sums
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.together.coarser import is_coarser
from tabprotect.engine.posterior.widening import NOT_WIDENED, Widening
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.subtables import groupings_of
from tabprotect.engine.release.findings import Omission, kinds
from tabprotect.engine.release.likelihood import UNBOUNDED, CellFactors, Likelihood, RecordSwaps
from tabprotect.engine.release.mechanism import CHANGED, RefusedDraws
from tabprotect.engine.release.release import Release
from tabprotect.engine.release.verdict_figures import JudgedBy
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.variable import spoken
from tabprotect.languages.messages import joined, message


def proved_ends(likelihood: CellFactors) -> tuple[Ints, Ints]:
    """Lower and upper bounds of the inner cells, int64 (cells,); ``UNBOUNDED`` for no upper bound.

    Raises
    ------
    InputError
        When no original fits.
    """
    ends, size = likelihood.ends, likelihood.domain.size
    cells = np.zeros(size, dtype=np.int64), np.full(size, UNBOUNDED)
    return propagated((likelihood.starts, likelihood.cells), ends, cells)


EXACT_SUMS = 2**26
"""The most entries of the exact laws of a table's sums: a second or two."""

MOST_HELD = 2**25
"""The most counts of all drawn or listed originals whose sums are computed."""


@dataclass(frozen=True, eq=False)
class TableBelief:
    """A reader's beliefs about the cells of one table.

    Attributes
    ----------
    domain
        The table's variables.
    inner
        True if these are the inner cells.
    judged : bool (cells,), or None
        The cells that are judged; the others are exact by design. ``None``: all are judged.
    group_of_cell, first, chances
        As in ``Posterior``; ``None`` if there is none.
    way, error, note, left_out, basis
        As in ``TableVerdict``.
    draws
        Effective number of drawn originals that the chances are shares of; ``None`` for exact ones.
    source
        The posterior that tells of the cells together, and the cell of the table that each of its own
        is in, int64 (cells,), ``None`` where they are the same; ``None`` without a posterior.
    beside : int64
        Counts that the table tells exactly and that count with its cells: readers know them.
    """

    domain: Domain
    inner: bool
    judged: Bools | None
    rows: tuple[Ints, Ints, Floats] | None
    way: JudgedBy
    error: float = 0.0
    note: str = ""
    left_out: tuple[Omission, ...] = ()
    draws: float | None = None
    basis: str = ""
    source: tuple[Posterior, Ints | None] | None = None
    beside: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def among(self, cells: Bools) -> Ints:
        """The judged cells among the given flat cells."""
        return np.flatnonzero(cells if self.judged is None else cells & self.judged)

    def probability(self, counts: npt.ArrayLike, cells: Ints) -> Floats:
        """P(true count = the given one) of flat cells, (cells,)."""
        assert self.rows is not None
        group, first, chances = self.rows
        column = np.asarray(counts, dtype=np.int64) - first[cells]
        inside = (column >= 0) & (column < chances.shape[1])
        found = chances[group[cells], np.where(inside, column, 0)]
        return np.where(inside, found, 0.0)


@dataclass(frozen=True, eq=False)
class TablesBelieved:
    """One reader's beliefs about a release.

    Attributes
    ----------
    beliefs
        The beliefs about every judged table.
    likelihood
        The likelihood they come from; ``None`` if there is none.
    inner
        The posterior of the inner cells; ``None`` if there is none.
    widening
        What is known of what was bounded and not taken in.
    """

    beliefs: tuple[TableBelief, ...]
    likelihood: Likelihood | None
    inner: Posterior | None = None
    widening: Widening = NOT_WIDENED

    @property
    def apart(self) -> bool:
        """Return True if what several tables say together is left out."""
        return any("joint_noise" in belief.left_out for belief in self.beliefs)


def tables_believed(
    evidence: Evidence,
    prior: str,
    *,
    earlier: Sequence[Release | Evidence] = (),
    refused: tuple[RefusedDraws, ...] = (),
    weigh: WeighRefused | None = None,
    effort: Effort = VERDICT,
    progress: Progress = SILENT,
) -> TablesBelieved:
    """A reader's beliefs about every judged table.

    Parameters
    ----------
    prior
        The prior, as text.
    earlier
        Other releases of the same original, and what is known of it besides.
    refused
        Draws that were refused before.
    weigh
        How these are taken in; ``None``: they are left out.

    Raises
    ------
    InputError, ParameterError
        When the release cannot come from its mechanism.
    """
    release = evidence.release
    asked = _Asked(release, prior, effort, progress)
    likelihood: Likelihood | None = None
    try:
        likelihood = evidence.likelihood
        found = asked.believe([evidence, *earlier], OfRelease(release))
    except InfeasibleError as error:
        if isinstance(likelihood, CellFactors):
            return TablesBelieved((_bounded(likelihood, error.sentence),), likelihood)
        return TablesBelieved((_unknown(release.domain, True, error.sentence),), likelihood)
    if refused:
        again = None
        if weigh is not None and not earlier and (found.recorded_sums or not _apart(release)):
            chance = OfRelease(release, "refused draws")
            again = weigh(found, refused, chance, progress)
        found = again or replace(
            found,
            note=joined(filter(None, [found.note, CHANGED]), " "),
            left_out=kinds(found.left_out, ["attempts"]),
        )
    inner = found.domain == release.domain
    # Beside a finer table the posterior is about the cells of that.
    summed = inner or is_coarser(release.domain, found.domain)
    out = [as_belief(found, inner=True, judged=None)] if summed else []
    if out and isinstance(likelihood, RecordSwaps):
        out = [replace(out[0], beside=likelihood.kept_by_place)]
    for number, judged in judged_tables(release):
        domain = release.tables[number].table.domain
        if domain != found.domain:
            out.append(asked.of_table(number, found if summed else None, judged))
        elif not inner:
            out.append(as_belief(found, inner=False, judged=judged))
    if summed:
        out += _of_earlier(asked, earlier, found, {belief.domain for belief in out})
    return TablesBelieved(tuple(out), likelihood, found if inner else None, found.widening)


def judged_tables(release: Release) -> Iterator[tuple[int, Bools | None]]:
    """The tables that are judged, and which of their cells; ``None`` for all."""
    # Beside sums, counts are exact.
    exact = bool(release.magnitudes) or methods()[release.mechanism.method].publishes_true_counts(release)
    for number, published in enumerate(release.tables):
        if not exact:
            yield number, None
        elif published.suppressed is not None:
            yield number, published.suppressed.reshape(-1)


def _of_earlier(
    asked: _Asked, earlier: Sequence[Release | Evidence], found: Posterior, known: set[Domain]
) -> Iterator[TableBelief]:
    """Beliefs about what only earlier releases published."""
    for release in earlier:
        if isinstance(release, Evidence):
            # No table of this original.
            continue
        for number, judged in judged_tables(release):
            domain = release.tables[number].table.domain
            if domain not in known:
                known.add(domain)
                yield replace(asked, release=release).of_table(number, found, judged)


def _apart(release: Release) -> bool:
    """Return True if some table is judged by itself, without the originals of the others."""
    method = methods()[release.mechanism.method]
    return any(method.table_likelihood(release, number) for number in range(1, len(release.tables)))


def at_a_glance(release: Release, progress: Progress = SILENT) -> TableBelief:
    """Belief about the table that the likelihood is about, within about a second.

    What the choice of a whole table reveals beyond its counts is left out. If cells depend on each
    other in too many ways, only what is proved counts (its way is ``bounds``): readers know more than
    that.

    Raises
    ------
    InfeasibleError
        If there is no posterior.
    InputError, ParameterError
        When the release cannot come from its mechanism.
    """
    evidence = Evidence(release)
    likelihood = evidence.likelihood
    asked = _Asked(release, "uniform", GLANCE, progress)
    try:
        found = asked.believe([evidence], OfRelease(release))
    except InfeasibleError as error:
        if isinstance(likelihood, CellFactors):
            return _bounded(likelihood, error.sentence)
        raise
    return as_belief(found, inner=True, judged=None)


def _way(found: Posterior) -> JudgedBy:
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
        found.note or (message("Only close to what the mechanism says.") if found.approximate else ""),
        kinds(found.left_out, ["simulation"] if found.approximate else []),
        found.effective_sample_size,
        found.basis,
        (found, None),
    )


def _unknown(domain: Domain, inner: bool, note: str) -> TableBelief:
    return TableBelief(domain, inner, None, None, "none", note=note, left_out=("simulation",))


def _bounded(likelihood: CellFactors, why: str) -> TableBelief:
    """Belief in what is proved and nothing else: cells whose bounds meet."""
    lower, upper = proved_ends(likelihood)
    fixed = lower == upper
    note = message("{why} Only what follows from the limits of the published sums is counted.", why)
    rows = (np.where(fixed, 0, 1), np.where(fixed, lower, 0), np.array([[1.0], [0.0]]))
    left_out = kinds(likelihood.left_out, ["simulation"])
    return TableBelief(likelihood.domain, True, None, rows, "bounds", note=note, left_out=left_out)


KEPT_CELLS = 2_000
"""Most cells of a posterior that is kept for who asks for it again."""

_last: dict[bytes, Posterior | InfeasibleError] = {}


def believed_alone(evidence: Evidence, progress: Progress = SILENT) -> Posterior:
    """Return what a reader who assumes nothing believes of one release, by the effort of a verdict.

    The last one is kept where the table is small, and that there is none: the gate, the page of the
    bundle and whoever verifies it ask for the same.

    Raises
    ------
    InfeasibleError
        If there is no posterior.
    """
    release = evidence.release
    small = release.domain.size <= KEPT_CELLS
    key = release_fingerprint(release) if small else b""
    found = _last.get(key)
    if found is None:
        try:
            found = believe(
                [evidence],
                "uniform",
                knowing=RELEASE_ALONE,
                inner=True,
                effort=VERDICT,
                randomness=OfRelease(release),
                progress=progress,
            ).posterior
        except InfeasibleError as error:
            found = error
        if small:
            _last.clear()
            _last[key] = found
    if isinstance(found, InfeasibleError):
        raise found.with_traceback(None)
    return found


@dataclass(frozen=True, eq=False)
class _Asked:
    """A release to be judged, and the options for its posteriors."""

    release: Release
    prior: str
    effort: Effort
    progress: Progress

    def believe(self, evidence: Sequence[Release | Evidence], randomness: OfRelease) -> Posterior:
        """The posterior by which the release is judged.

        Raises
        ------
        InfeasibleError
            If there is no posterior.
        """
        same = replace(self.effort, tells=True, tells_refused=True) == VERDICT
        if same and self.prior == "uniform" and len(evidence) == 1:
            (one,) = evidence
            if isinstance(one, Evidence) and one.release is self.release and not one.alone:
                return believed_alone(one, self.progress)
        return believe(
            evidence,
            self.prior,
            knowing=RELEASE_ALONE,
            inner=True,
            effort=self.effort,
            randomness=randomness,
            progress=self.progress,
        ).posterior

    def of_table(self, number: int, inner: Posterior | None, judged: Bools | None) -> TableBelief:
        """Belief about a published table other than that of the posterior.

        From that table by itself if the method says so; else from sums of originals: all of them if
        they can be listed, otherwise drawn ones.
        """
        release, domain = self.release, self.release.tables[number].table.domain
        apart = law_of_its_own(release, number, inner)
        randomness = OfRelease(release, message("table {number}", number))
        try:
            if apart is not None:
                found = self.believe([Evidence(release, apart, alone=True)], randomness)
                return as_belief(found, inner=False, judged=judged)
            if inner is None:
                raise InfeasibleError(message("the posterior is not about the cells it is made of"))
            return self._summed(number, inner, judged, randomness)
        except InfeasibleError as error:
            label = spoken(domain.names) or message("the grand total")
            return _unknown(domain, False, message("{label}: {error}.", label, error))

    def _summed(
        self, number: int, inner: Posterior, judged: Bools | None, randomness: OfRelease
    ) -> TableBelief:
        release, domain = self.release, self.release.tables[number].table.domain
        groupings = groupings_of(inner.domain, release.mechanism.parameters)
        alone = Publication(inner.domain, (domain.names,), groupings)
        size = inner.domain.size
        draws = min(VERDICT.most_draws, MOST_HELD // size)
        found = sums(
            inner,
            alone,
            randomness=randomness,
            # Nothing is drawn if the draws would be too few to judge by.
            draws=draws if draws >= LEAST_DRAWS else 0,
            work=EXACT_SUMS,
            progress=self.progress,
        )[0]
        belief = replace(as_belief(found, inner=False, judged=judged), source=(inner, alone.keys(0)))
        if inner.recorded_sums is not None and found.way != "exact":
            return replace(belief, error=inner.error or 0.0)
        if found.draws is not None and found.draws < LEAST_DRAWS:
            raise InfeasibleError(message("so few as {draws:,} drawn originals say too little", found.draws))
        if found.effective_sample_size is None:
            return belief
        # Chances of sums that no draw met have an error too.
        least = float(np.sqrt(0.25 / found.effective_sample_size))
        return replace(belief, error=max(inner.error or 0.0, least))
