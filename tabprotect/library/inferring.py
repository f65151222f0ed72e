"""Inference from releases: the cells of a table, or sums of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args, overload

from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.counts_among import counts_among
from tabprotect.engine.belief.effort import READER
from tabprotect.engine.belief.evidence import Evidence, PriorKnowledge
from tabprotect.engine.bundle.informed_prior import informed
from tabprotect.engine.disclosure.attempts import weigh_attempts as first_that_passed
from tabprotect.engine.disclosure.counts_verdict import weigh_refused
from tabprotect.engine.errors import InputError, ParameterError, about
from tabprotect.engine.posterior.approach import Way
from tabprotect.engine.posterior.margins import sums
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.subtables import asked_of
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release
from tabprotect.languages.messages import message
from tabprotect.library.belief import Belief
from tabprotect.library.protection import Protection
from tabprotect.library.release import open_release
from tabprotect.library.shown.frames import usual_kind


@dataclass(frozen=True, eq=False, repr=False)
class SumBelief:
    """The posterior distributions of sums of cells, addressed by category names.

    Attributes
    ----------
    tables
        One belief for each margin that was asked for, the smallest first; the groups of a grouping
        are its categories.
    """

    tables: tuple[Belief, ...]

    def __repr__(self) -> str:
        named = (":".join(one.domain.names) or "total" for one in self.tables)
        return f"SumBelief({', '.join(named)})"

    def distribution(self, **cell: str) -> dict[int, float]:
        """The distribution of one sum: the categories name its table too; none the grand total.

        Examples
        --------
        >>> import tabprotect as tp
        >>> release = tp.protect(tp.read_table("example:duncan-roehrig-4x4"), seed=7)
        >>> belief = tp.infer(release, of="half*w", groupings="half:v=v1>a,v2>a,v3>b,v4>b")
        >>> belief
        SumBelief(total, half, w, half:w)
        >>> belief.distribution(half="a")
        {75: 1.0}
        """
        wanted = {name.casefold() for name in cell}
        for one in self.tables:
            if {name.casefold() for name in one.domain.names} == wanted:
                return one.distribution(**cell)
        raise InputError(
            message("no table of {value} was asked for", ", ".join(cell) or message("the total")),
            hint=message("there are {self}", repr(self)),
        )

    def to_frame(self, kind: str | None = None, *, distributions: bool = False) -> Any:
        """The rows of the only table, as of :meth:`Belief.to_frame`; of several take each."""
        if len(self.tables) != 1:
            raise InputError(
                message("these are several tables"), hint=message("take to_frame() of each one in tables")
            )
        return self.tables[0].to_frame(kind, distributions=distributions)


AnyRelease = str | Path | Release | Protection


@overload
def infer(
    release: AnyRelease | Sequence[AnyRelease],
    *,
    of: None = None,
    groupings: str = "",
    prior: str = "uniform",
    way: Way = "auto",
    draws: int | None = None,
    seed: int | None = None,
    weigh_attempts: bool = False,
    progress: Progress = SILENT,
) -> Belief: ...


@overload
def infer(
    release: AnyRelease | Sequence[AnyRelease],
    *,
    of: str,
    groupings: str = "",
    prior: str = "uniform",
    way: Way = "auto",
    draws: int | None = None,
    seed: int | None = None,
    weigh_attempts: bool = False,
    progress: Progress = SILENT,
) -> SumBelief: ...


def infer(
    release: AnyRelease | Sequence[AnyRelease],
    *,
    of: str | None = None,
    groupings: str = "",
    prior: str = "uniform",
    way: Way = "auto",
    draws: int | None = None,
    seed: int | None = None,
    weigh_attempts: bool = False,
    progress: Progress = SILENT,
) -> Belief | SumBelief:
    """Return what a reader can believe about every true count, from public things alone.

    Parameters
    ----------
    release
        A bundle's file name, an opened release, or a protection (of which only the release is
        looked at); or a list of these, all of one original, which are read together.
    of, groupings
        Sums instead of cells, as a formula such as ``"region*age"``: margins, levels of a
        hierarchy, any groupings (as text or a file; those that the release states are known).
    prior
        ``uniform``, ``positive``, ``positive:CELLS``, ``poisson:FILE``, ``negative_binomial:FILE``
        or ``table:FILE``; ``last:RELEASE.zip`` around the means of an earlier release, scaled to
        this one's total; ``model:FORMULA`` around a log-linear model of what was published, as
        widely as that shows.
    way, draws, seed
        Of the computation: exact where it can be, else Monte Carlo.
    weigh_attempts
        Whether to take in that the release is the first draw that passed the gate, where the
        originals and their draws can be listed; else no odds change by more than a factor of the
        attempts.

    See Also
    --------
    Belief, attack, verify

    Examples
    --------
    >>> import tabprotect as tp
    >>> table = tp.read_table("example:duncan-roehrig-4x4")
    >>> tp.infer(tp.protect(table), prior="positive")
    Belief(v | w, 4 x 4, exact)
    >>> tp.infer([tp.protect(table), tp.protect(table, fresh=True)])
    Belief(v | w, 4 x 4, exact)
    """
    wrong = {}
    if way not in get_args(Way):
        wrong["way"] = message("must be one of {ways}", ", ".join(get_args(Way)))
    if draws is not None and draws < 1:
        wrong["draws"] = message("must be at least 1")
    if wrong:
        raise ParameterError(wrong)
    given = [release] if isinstance(release, AnyRelease) else list(release)
    if not given:
        raise InputError(message("there is no release to infer from"))
    opened = [_counts(_opened(one, progress)) for one in given]
    first, releases = opened[0], [one.release for one in opened]
    stated = first.release.mechanism.parameters
    with about("of"):
        asked = None if of is None else asked_of(first.likelihood.domain, of, groupings, stated)
    randomness = None if seed is None else Randomness.seeded(seed)
    found = believe(
        opened,
        informed(prior, releases, progress),
        knowing=PriorKnowledge(
            weigh=first_that_passed if weigh_attempts else None, weigh_refused=weigh_refused
        ),
        effort=replace(READER, way=way, draws=draws),
        randomness=randomness,
        progress=progress,
    )
    kinds = [one.kind for one in given if isinstance(one, Protection)]
    kind = kinds[0] if kinds else usual_kind()
    if asked is None:
        return Belief(found, kind, tuple(releases))
    tables = sums(found.posterior, asked, randomness=randomness, draws=draws, progress=progress)
    return SumBelief(tuple(Belief(replace(found, posterior=one), kind) for one in tables))


def _counts(release: Release) -> Evidence:
    """What a release says of counts, which are its only measure or one of them."""
    found = counts_among(release)
    if found is None:
        raise InputError(
            message("this release publishes magnitudes, and no counts"),
            hint=message("what a contributor can guess of it: tabprotect infer RELEASE --as-contributor"),
        )
    return found


def _opened(release: AnyRelease, progress: Progress) -> Release:
    if isinstance(release, Protection):
        return release.release
    return release if isinstance(release, Release) else open_release(release, progress=progress)
