"""One release beside its original: what measures look at. Confidential."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tabprotect.engine.assessment.attribute_disclosure import Disclosures, Intruder
from tabprotect.engine.assessment.compared import derive, published_by, stated
from tabprotect.engine.assessment.figure import NotComputable, Reals
from tabprotect.engine.errors import (
    InfeasibleError,
    Interrupted,
    ParameterError,
    TabprotectError,
)
from tabprotect.engine.fitting.additivity import restore
from tabprotect.engine.fitting.expected import fit
from tabprotect.engine.posterior.cell_laws import cell_laws
from tabprotect.engine.posterior.components import split
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import Uniform
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import CellFactors, MoveSequence
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.grouped import true_table
from tabprotect.engine.tables.publication import Publication

Mask = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

UNNAMED = "the table has one variable only: none is left as a key"


@dataclass(frozen=True)
class Key:
    """What an intruder knows of a person, and what they want to know.

    Attributes
    ----------
    variables
        The key variables; none when there is no other than the sensitive one.
    sensitive
    """

    variables: tuple[str, ...]
    sensitive: str

    @classmethod
    def of(cls, domain: Domain, variables: tuple[str, ...] | None, sensitive: str | None) -> Key:
        """Complete a choice: the last variable that is no key is sensitive, the others are keys.

        Raises
        ------
        ParameterError
            For a variable the table does not have, or one that is both.
        """
        wrong = {}
        for name in variables or ():
            if name not in domain.names:
                wrong["key"] = f"the table has no variable {name!r}"
        if sensitive is not None and sensitive not in domain.names:
            wrong["sensitive"] = f"the table has no variable {sensitive!r}"
        elif variables is not None and sensitive in variables:
            wrong["sensitive"] = f"{sensitive!r} is a key variable"
        left = [name for name in domain.names if name not in (variables or ())]
        if not wrong and sensitive is None and not left:
            wrong["key"] = "no variable is left to be sensitive"
        if wrong:
            raise ParameterError(wrong, hint=f"there are {', '.join(domain.names)}")
        chosen = left[-1] if sensitive is None else sensitive
        if variables is None:
            variables = tuple(name for name in domain.names if name != chosen)
        return cls(tuple(n for n in domain.names if n in variables), chosen)


@dataclass(frozen=True)
class Budget:
    """What posteriors may cost. All limits but the last are known beforehand.

    Attributes
    ----------
    cells
        Inner cells up to which a posterior is asked for.
    joined
        Inner cells that hang together (by more than one published sum) up to which it is.
    joined_runs
        Runs of one configuration in which such a posterior, which takes a second or more, is
        worked out.
    draws
        Draws of one that cannot be exact.
    seconds
        After which one is given up: a safety net, that figures never depend on where it holds.
    """

    cells: int = 50_000
    joined: int = 64
    joined_runs: int = 3
    draws: int = 500
    seconds: float = 30.0


class _Deadline:
    """Progress that gives up after a time."""

    def __init__(self, seconds: float, progress: Progress) -> None:
        self._end = time.monotonic() + seconds
        self._progress = progress
        self._text = f"the posterior would take more than {seconds:g} s"

    def report(self, stage: str, fraction: float, partial: object = None) -> None:
        # The fraction is that of a part: whoever watches sees the runs.
        self._progress.report(stage, 0.0)
        if time.monotonic() > self._end:
            raise NotComputable(self._text)


@dataclass(frozen=True, eq=False)
class Case:
    """A release, its original, and what both say about the compared cells.

    Attributes
    ----------
    compared
        The cells that figures "over published cells" are about.
    key
        For the risk by attribute disclosure.
    second
        Another release of the same table by the same method; ``None`` where there is none.
    affords_joined
        Whether a posterior may take a second or more.
    second_is_new
        Whether the second release had chances of its own (else it says nothing new).
    """

    problem: Problem
    release: Release
    compared: Publication
    key: Key
    second: Release | None = None
    second_is_new: bool = True
    affords_joined: bool = True
    budget: Budget = Budget()
    progress: Progress = SILENT

    @cached_property
    def own(self) -> Publication:
        """The sub-tables that the release publishes."""
        return published_by(self.release)

    @cached_property
    def truth(self) -> Reals:
        """True counts of the compared cells, float64 (compared cells,)."""
        return true_counts(self.compared, self.problem)

    @cached_property
    def published(self) -> Reals:
        """Published counts of the compared cells (or sums of such); NaN where there is none."""
        return derive(self.own, self.compared, stated(self.release))

    @cached_property
    def known(self) -> Mask:
        """Compared cells that have a published count.

        Raises
        ------
        NotComputable
            When no cell has.
        """
        known = ~np.isnan(self.published)
        if not known.any():
            raise NotComputable("no compared cell is published")
        return np.asarray(known)

    @cached_property
    def pair(self) -> tuple[Reals, Reals]:
        """(true, published) counts of the cells that have both, (known cells,)."""
        return self.truth[self.known], self.published[self.known]

    def spread(self, figures: Reals) -> Reals:
        """Figures of the known cells as one per compared cell, NaN at the others."""
        out = np.full(self.compared.size, np.nan)
        out[self.known] = figures
        return out

    @cached_property
    def _restored(self) -> Reals | str:
        values = stated(self.release)
        known = ~np.isnan(values)
        try:
            return restore(
                self.own,
                np.where(known, values, 0.0),
                known=None if known.all() else known,
                progress=self.progress,
            )
        except Interrupted:
            raise
        except TabprotectError as error:
            return f"additivity cannot be restored: {error}"

    @property
    def restored_own(self) -> Reals:
        """The release's counts made additive (own cells,); suppressed ones are free, and NaN."""
        if isinstance(self._restored, str):
            raise NotComputable(self._restored)
        return self._restored

    @cached_property
    def restored(self) -> Reals:
        """The same for the compared cells."""
        return derive(self.own, self.compared, self.restored_own)

    @cached_property
    def _expected(self) -> Reals | str:
        values = self.restored_own
        known = np.isfinite(values)
        try:
            return fit(self.own, np.nan_to_num(values), known=known, progress=self.progress).cells
        except Interrupted:
            raise
        except TabprotectError as error:
            return f"the inner cells cannot be fitted: {error}"

    @property
    def expected(self) -> Reals:
        """The inner cells that the restored counts suggest, shape of the table."""
        if isinstance(self._expected, str):
            raise NotComputable(self._expected)
        return self._expected

    @cached_property
    def inner(self) -> Reals:
        """The original, float64, shape of the table."""
        return self.problem.table.counts.astype(np.float64)

    def by_key(self, cells: Reals) -> Reals:
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
        if intruder not in self._disclosures:
            self._disclosures[intruder] = Disclosures.of(
                self.by_key(self.inner), self.by_key(self.expected), intruder
            )
        return self._disclosures[intruder]

    @cached_property
    def _disclosures(self) -> dict[Intruder, Disclosures]:
        return {}

    def by_group(self, figures: Reals, occupied: Mask) -> Reals:
        """Figures of key groups in the key variables' shape, NaN where nobody is."""
        domain = self.problem.table.domain
        shape = domain.project(self.key.variables).shape
        return np.where(occupied, figures, np.nan).reshape(shape)

    @cached_property
    def _posterior(self) -> Posterior | str:
        return self._inferred(self.release)

    @property
    def posterior(self) -> Posterior:
        """What a reader who assumes nothing believes of the inner cells, count by count.

        Exact where the release allows it, drawn for small tables where it does not. Where the
        method chooses a whole table at once (rounding, suppression), what this choice says beyond
        each published count is left out: use ``infer`` on the release for that.

        Raises
        ------
        NotComputable
            Where neither is affordable, saying why.
        """
        if isinstance(self._posterior, str):
            raise NotComputable(self._posterior)
        return self._posterior

    @cached_property
    def believed(self) -> Ints:
        """True counts of the cells that the posterior is about, int64, shape of its table.

        The inner cells, or those of the main published table where inner cells are not published.
        """
        domain = self.posterior.domain
        return true_table(self.problem.table, domain, self.own.groupings).counts

    @cached_property
    def at_risk(self) -> Mask:
        """Which of these are at risk by the problem's rule, shape of the posterior's table.

        Raises
        ------
        NotComputable
            When there is none.
        """
        mask = self.problem.at_risk.mask(self.believed)
        if not mask.any():
            raise NotComputable(f"no cell has a count at risk ({self.problem.at_risk})")
        return mask

    @cached_property
    def feasible(self) -> tuple[Reals, Reals]:
        """Lowest and highest true count that remains possible, shape of the table each.

        Raises
        ------
        NotComputable
            Where the posterior is drawn: it shows some of the possible counts only.
        """
        posterior = self.posterior
        if posterior.way != "exact":
            raise NotComputable("the posterior is drawn: it does not show every possible count")
        possible = posterior.chances > 0
        low = possible.argmax(axis=1)
        high = possible.shape[1] - 1 - possible[:, ::-1].argmax(axis=1)
        group, first = posterior.group_of_cell, posterior.first
        shape = posterior.domain.shape
        return (
            (first + low[group]).astype(np.float64).reshape(shape),
            (first + high[group]).astype(np.float64).reshape(shape),
        )

    @cached_property
    def _second_posterior(self) -> Posterior | str:
        return "there is no second release" if self.second is None else self._inferred(self.second)

    @property
    def second_posterior(self) -> Posterior:
        """The same from the second release alone."""
        if isinstance(self._second_posterior, str):
            raise NotComputable(self._second_posterior)
        return self._second_posterior

    def _inferred(self, release: Release) -> Posterior | str:
        """The posterior or why there is none; that of an equal release is found again."""
        name = _fingerprint(release, (self.budget, self.affords_joined))
        if name not in _FOUND:
            found = self._worked_out(release, Randomness.seeded(int(name[:32], 16)))
            while len(_FOUND) >= MOST_FOUND:
                _FOUND.pop(next(iter(_FOUND)))
            _FOUND[name] = found
        return _FOUND[name]

    def _worked_out(self, release: Release, randomness: Randomness) -> Posterior | str:
        size, budget = release.domain.size, self.budget
        if size > budget.cells:
            return f"{size:,} cells are too many for a posterior in a comparison"
        try:
            likelihood = likelihood_of(release)
            joined = size
            if isinstance(likelihood, CellFactors):
                # What the choice of a whole table says takes thousands of simulated runs.
                likelihood = replace(likelihood, rerun=None)
                joined = _joined(likelihood)
            try:
                # Of a sequence of moves it is known at once whether there is an exact way.
                if isinstance(likelihood, MoveSequence) or not joined:
                    return infer(likelihood, way="exact", progress=self._watch)
            except InfeasibleError:
                if not joined:
                    raise
            if joined > budget.joined:
                return f"{joined:,} cells hang together: too many for a posterior in a comparison"
            if not self.affords_joined:
                return f"it takes long: worked out in the first {budget.joined_runs} runs only"
            return infer(
                likelihood,
                way="auto",
                randomness=randomness,
                draws=budget.draws,
                progress=self._watch,
            )
        except Interrupted:
            raise
        except (NotComputable, TabprotectError) as error:
            return str(error)

    @property
    def _watch(self) -> Progress:
        return _Deadline(self.budget.seconds, self.progress)


MOST_FOUND = 8
"""Posteriors that are kept: methods with few outcomes give the same release again and again."""

_FOUND: dict[str, Posterior | str] = {}


def _joined(likelihood: CellFactors) -> int:
    """Cells that more than one published sum joins."""
    parts = split(cell_laws(likelihood, Uniform())).components
    return sum(len(part.cells) for part in parts if len(part.sums) > 1)


def _fingerprint(release: Release, means: object) -> str:
    """Equal for equal releases with equal means. A drawn posterior takes its seed from it: nothing confidential
    depends on that one, and so the figures do not depend on which process works them out."""
    digest = hashlib.sha256(release.mechanism.to_text(categories=True).encode())
    digest.update(repr(means).encode())
    for published in release.tables:
        digest.update(repr(published.table.domain.names).encode())
        digest.update(published.table.counts.tobytes())
        digest.update(published.hidden.tobytes())
    return digest.hexdigest()


def true_counts(compared: Publication, problem: Problem) -> Reals:
    """The original's counts of compared cells, float64 (compared cells,)."""
    return np.concatenate(
        [table.counts.reshape(-1) for table in compared.sums(problem.table)]
    ).astype(np.float64)
