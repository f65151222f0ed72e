"""Inference from releases: the cells of a table, or sums of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from tabprotect.engine.belief.counts_among import counts_among
from tabprotect.engine.belief.evidence import Evidence
from tabprotect.engine.bundle.inferring import Inferring, inferred
from tabprotect.engine.errors import InputError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.release.release import Release
from tabprotect.languages.messages import message
from tabprotect.library.arguments.asking import asks, taken
from tabprotect.library.belief import Belief
from tabprotect.library.protection import Protection
from tabprotect.library.release import open_release
from tabprotect.library.shown.frames import usual_kind

if TYPE_CHECKING:
    from typing import Unpack

    from tabprotect.library.arguments.keywords import InferringKeywords


@dataclass(frozen=True, eq=False, repr=False)
class SumBelief:
    """The posterior distributions of sums of cells, addressed by category names.

    Attributes
    ----------
    tables
        One belief for each margin that was asked for, the smallest first; the groups of a grouping
        are its categories.

    See Also
    --------
    infer, Belief

    Examples
    --------
    >>> import tabprotect as tp
    >>> table = tp.read_table("example:duncan-roehrig-4x4")
    >>> tp.infer(tp.protect(table, seed=7), of="v")
    SumBelief(total, v)
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
        """The rows of the only table, as of :meth:`Belief.to_frame`; of several take each.

        Examples
        --------
        >>> import tabprotect as tp
        >>> table = tp.read_table("example:duncan-roehrig-4x4")
        >>> belief = tp.infer(tp.protect(table, seed=7), of="v")
        >>> belief.tables[-1].to_frame("dict")["v"]
        ['v1', 'v2', 'v3', 'v4']
        """
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
    progress: Progress = SILENT,
    **asked: Unpack[InferringKeywords],
) -> Belief: ...


@overload
def infer(
    release: AnyRelease | Sequence[AnyRelease],
    *,
    of: str,
    progress: Progress = SILENT,
    **asked: Unpack[InferringKeywords],
) -> SumBelief: ...


@asks(Inferring)
def infer(
    release: AnyRelease | Sequence[AnyRelease],
    *,
    of: str | None = None,
    progress: Progress = SILENT,
    **asked: Unpack[InferringKeywords],
) -> Belief | SumBelief:
    """Return what a reader can believe about every true count, from public things alone.

    Parameters
    ----------
    release
        A bundle's file name, an opened release, or a protection (of which only the release is
        looked at); or a list of these, all of one original, which are read together.
    of
        Sums instead of cells, as a formula such as ``"region*age"``: margins, levels of a
        hierarchy, any groupings.
    **asked

    Notes
    -----
    The prior ``last:RELEASE.zip`` stands around the means of an earlier release, scaled to this one's
    total; ``model:FORMULA`` around a log-linear model of what was published, as widely as that shows.
    With ``weigh_attempts`` it is taken in that the release is the first draw that passed the gate, where
    the originals and their draws can be listed; else no odds change by more than a factor of the
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
    wanted = taken(Inferring, asked, of=of)
    given = [release] if isinstance(release, AnyRelease) else list(release)
    if not given:
        raise InputError(message("there is no release to infer from"))
    opened = [_counts(_opened(one, progress)) for one in given]
    releases = [one.release for one in opened]
    found, tables = inferred(opened, wanted, progress=progress)
    kinds = [one.kind for one in given if isinstance(one, Protection)]
    kind = kinds[0] if kinds else usual_kind()
    if tables is None:
        return Belief(found, kind, tuple(releases))
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
