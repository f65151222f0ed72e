"""One release beside its original: the data of all measures. Confidential."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.assessment.attribute_disclosure import Disclosures, Intruder
from tabprotect.engine.assessment.compared_cells import derive, published_by, stated_counts
from tabprotect.engine.assessment.figure import ABOUT, AT_LEAST, NotComputable
from tabprotect.engine.assessment.intruder_key import Key
from tabprotect.engine.belief.effort import COMPARISON, Effort
from tabprotect.engine.belief.evidence import RELEASE_ALONE, OfRelease, release_fingerprint
from tabprotect.engine.errors import Interrupted, TabprotectError, attempted
from tabprotect.engine.fitting.additivity import restore
from tabprotect.engine.fitting.expected import fit
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.design_weights import SCALE, DesignWeights, rounded
from tabprotect.engine.tables.groupings.grouping import true_table
from tabprotect.engine.tables.publication import Publication
from tabprotect.languages.messages import message

SECONDS = 30.0
"""Seconds after which a posterior is given up: a safety net that no figure depends on."""

MOST_FOUND = 8
"""Most posteriors kept: methods with few outcomes give the same release again and again."""


@dataclass(frozen=True)
class _Deadline:
    """Progress that gives up after a time."""

    end: float
    progress: Progress

    def report(self, stage: str, fraction: float, partial: object = None) -> None:
        # The fraction is that of a part: whoever watches sees the runs.
        self.progress.report(stage, 0.0)
        if time.monotonic() > self.end:
            raise NotComputable(message("the posterior would take more than {SECONDS:g} s", SECONDS))


_FOUND: dict[str, Posterior | str] = {}


def compared_posterior(release: Release, effort: Effort, progress: Progress) -> Posterior:
    """Return what a reader who assumes nothing believes of the inner cells, count by count.

    Equal releases share one posterior. A drawn posterior takes its seed from the release, so that
    no figure depends on the process that computes it.

    Raises
    ------
    NotComputable
        Where none is affordable or none exists, saying why.
    """
    # Late: whoever lists the measures needs no posterior.
    from tabprotect.engine.belief.believing import believe

    name = release_fingerprint(release, repr(effort)).hex()
    if name not in _FOUND:
        watch = _Deadline(time.monotonic() + SECONDS, progress)
        chance = OfRelease(release)
        try:
            found: Posterior | str = believe(
                [release], knowing=RELEASE_ALONE, effort=effort, randomness=chance, progress=watch
            ).posterior
        except Interrupted:
            raise
        except (NotComputable, TabprotectError) as error:
            found = str(error)
        while len(_FOUND) >= MOST_FOUND:
            _FOUND.pop(next(iter(_FOUND)))
        _FOUND[name] = found
    kept = _FOUND[name]
    if isinstance(kept, str):
        raise NotComputable(kept)
    return kept


UNNAMED = message("the table has one variable only: none is left as a key")


@dataclass(frozen=True, eq=False)
class AssessedRelease:
    """A release and its original, with the counts of both in the compared cells.

    Attributes
    ----------
    compared
        The cells that figures "over published cells" are about.
    key
        The key for the risk of attribute disclosure.
    second
        Another release of the same table by the same method; ``None`` where there is none.
    affords_joined
        Whether a posterior that takes a second or more is affordable.
    second_is_new
        Whether the second release had random numbers of its own (else it says nothing new).
    """

    problem: Problem
    release: Release
    compared: Publication
    key: Key
    second: Release | None = None
    second_is_new: bool = True
    affords_joined: bool = True
    effort: Effort = COMPARISON
    progress: Progress = SILENT

    @cached_property
    def own(self) -> Publication:
        """The sub-tables that the release publishes."""
        return published_by(self.release)

    @cached_property
    def weighted(self) -> bool:
        """Return True if estimates (sums of design weights) are published, not counts of records."""
        mechanism = self.release.mechanism
        return methods()[mechanism.method].weighted(mechanism.values)

    def require_counts(self) -> None:
        """Raise where published numbers cannot be read as counts of records.

        Raises
        ------
        NotComputable
            Where estimates are published.
        """
        if self.weighted:
            raise NotComputable(message("estimates are published, not counts of records"))

    @cached_property
    def counts(self) -> Floats:
        """True counts of records of the compared cells, float64 (compared cells,)."""
        return true_counts(self.compared, self.problem)

    @cached_property
    def truth(self) -> Floats:
        """The compared cells as they would be published without protection: the counts, or the
        rounded sums of weights; float64 (compared cells,)."""
        if not self.weighted:
            return self.counts
        sums = self.compared.sums(self.weights.sums)
        return np.concatenate([rounded(s.counts.reshape(-1)) for s in sums]).astype(np.float64)

    @property
    def weights(self) -> DesignWeights:
        """The design weights of the original.

        Raises
        ------
        NotComputable
            Where it has none.
        """
        if self.problem.weights is None:
            raise NotComputable(message("the original has no design weights"))
        return self.problem.weights

    @cached_property
    def published(self) -> Floats:
        """Published counts of the compared cells (or sums of such); NaN where there is none."""
        return derive(self.own, self.compared, stated_counts(self.release))

    @cached_property
    def known(self) -> Bools:
        """Compared cells that have a published count.

        Raises
        ------
        NotComputable
            When no cell has one.
        """
        known = ~np.isnan(self.published)
        if not known.any():
            raise NotComputable(message("no compared cell is published"))
        return np.asarray(known)

    @cached_property
    def pair(self) -> tuple[Floats, Floats]:
        """(true, published) counts of the cells that have both, (known cells,)."""
        return self.truth[self.known], self.published[self.known]

    def spread(self, figures: Floats) -> Floats:
        """Figures of the known cells as one per compared cell, NaN at the others."""
        out = np.full(self.compared.size, np.nan)
        out[self.known] = figures
        return out

    @cached_property
    def _restored(self) -> Floats | TabprotectError:
        values = stated_counts(self.release)
        known = ~np.isnan(values)
        some = None if known.all() else known
        numbers = np.where(known, values, 0.0)
        return attempted(partial(restore, self.own, numbers, known=some, progress=self.progress))

    @property
    def restored_own(self) -> Floats:
        """The release's counts made additive (own cells,); suppressed ones do not enter and are NaN."""
        if isinstance(self._restored, TabprotectError):
            raise NotComputable(message("additivity cannot be restored: {error}", self._restored))
        return self._restored

    @cached_property
    def restored(self) -> Floats:
        """The restored counts of the compared cells."""
        return derive(self.own, self.compared, self.restored_own)

    @cached_property
    def _expected(self) -> Floats | TabprotectError:
        values = self.restored_own
        fitting = partial(
            fit, self.own, np.nan_to_num(values), known=np.isfinite(values), progress=self.progress
        )
        return attempted(lambda: fitting().cells)

    @property
    def expected(self) -> Floats:
        """The inner cells that the restored counts suggest, shape of the table."""
        if isinstance(self._expected, TabprotectError):
            raise NotComputable(message("the inner cells cannot be fitted: {error}", self._expected))
        return self._expected

    @cached_property
    def inner(self) -> Floats:
        """The original (its sums of weights, where estimates are published), float64, shape of
        the table."""
        if self.weighted:
            return np.asarray(self.weights.sums.counts / SCALE)
        return self.problem.table.counts.astype(np.float64)

    def by_key(self, cells: Floats) -> Floats:
        """Inner cells added up to (key groups, sensitive categories)."""
        domain = self.problem.table.domain
        if not self.key.variables:
            raise NotComputable(UNNAMED)
        wanted = (*self.key.variables, self.key.sensitive)
        others = tuple(a for a, name in enumerate(domain.names) if name not in wanted)
        left = [name for name in domain.names if name in wanted]
        summed = np.moveaxis(cells.sum(axis=others), left.index(self.key.sensitive), -1)
        return np.asarray(summed.reshape(-1, summed.shape[-1]))

    def disclosures(self, intruder: Intruder) -> Disclosures:
        """Exact disclosures in the original and in the expected inner cells."""
        self.require_counts()
        if intruder not in self._disclosures:
            self._disclosures[intruder] = Disclosures.of(
                self.by_key(self.inner), self.by_key(self.expected), intruder
            )
        return self._disclosures[intruder]

    @cached_property
    def _disclosures(self) -> dict[Intruder, Disclosures]:
        return {}

    def by_group(self, figures: Floats, occupied: Bools) -> Floats:
        """Figures of key groups in the key variables' shape, NaN where nobody is."""
        domain = self.problem.table.domain
        shape = domain.project(self.key.variables).shape
        return np.where(occupied, figures, np.nan).reshape(shape)

    @property
    def posterior(self) -> Posterior:
        """Return what a reader who assumes nothing believes: see ``compared_posterior``."""
        return self._believed_of(self.release)

    @property
    def left_out(self) -> str:
        """Say what the posterior leaves out, so that a reader may know more; empty where nothing."""
        note = self.posterior.note
        if not note:
            return ""
        return (ABOUT if self.posterior.approximate else AT_LEAST) + note

    @property
    def second_posterior(self) -> Posterior:
        """The posterior from the second release alone."""
        if self.second is None:
            raise NotComputable(message("there is no second release"))
        return self._believed_of(self.second)

    def _believed_of(self, release: Release) -> Posterior:
        effort = self.effort if self.affords_joined else replace(self.effort, draws=0)
        return compared_posterior(release, effort, self.progress)

    @cached_property
    def believed(self) -> Ints:
        """True counts of the cells that the posterior is about, int64, shape of its table.

        The inner cells, or those of the main published table where inner cells are not published.
        """
        domain = self.posterior.domain
        return true_table(self.problem.table, domain, self.own.groupings).counts

    @cached_property
    def at_risk(self) -> Bools:
        """The believed cells at risk by the problem's rule, bool, shape of the posterior's table.

        Raises
        ------
        NotComputable
            When there is none.
        """
        mask = self.problem.at_risk.mask(self.believed)
        if not mask.any():
            raise NotComputable(message("no cell has a small count ({at_risk})", self.problem.at_risk))
        return mask

    @cached_property
    def feasible(self) -> tuple[Floats, Floats]:
        """Lowest and highest true count that remains possible, shape of the table each.

        Raises
        ------
        NotComputable
            Where the posterior is drawn: it shows only some of the possible counts.
        """
        posterior = self.posterior
        if posterior.way != "exact":
            raise NotComputable(message("the posterior is drawn: it does not show every possible count"))
        possible = posterior.chances > 0
        low = possible.argmax(axis=1)
        high = possible.shape[1] - 1 - possible[:, ::-1].argmax(axis=1)
        group, first = posterior.group_of_cell, posterior.first
        shape = posterior.domain.shape
        return (
            (first + low[group]).astype(np.float64).reshape(shape),
            (first + high[group]).astype(np.float64).reshape(shape),
        )


def true_counts(compared: Publication, problem: Problem) -> Floats:
    """The original's counts of compared cells, float64 (compared cells,)."""
    return np.concatenate([table.counts.reshape(-1) for table in compared.sums(problem.table)]).astype(
        np.float64
    )
