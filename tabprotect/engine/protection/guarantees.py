"""The promises of methods by name, and how each is checked on the result of a run.

A method that breaks a promise on a table raises; its result is never returned. Promises about
averages (unbiased) and about readers (posterior) cannot be seen on one run: tests check them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import permutations
from types import MappingProxyType
from typing import ClassVar, Protocol, TypeVar

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.parameters import Parameter, Values
from tabprotect.engine.protection.problem import Draft, Problem
from tabprotect.engine.protection.subtables import groupings_of
from tabprotect.engine.release.release import PublishedTable
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.grouping import Grouping, true_table
from tabprotect.engine.tables.publication import Publication
from tabprotect.languages.messages import joined, message, plural

Tables = tuple[PublishedTable, ...]


class Promising(Protocol):
    """The part of a method that checking promises needs."""

    limits: ClassVar[Mapping[str, Parameter[int] | Parameter[int | None]]]

    def promised(self, values: Values) -> tuple[str, ...]:
        """The names of the guarantees that hold with these values."""

    def kept(self, domain: Domain, values: Values) -> Publication | None:
        """The margins that every release states exactly."""


@dataclass(frozen=True, eq=False)
class Seen:
    """The public data on which a promise is checked.

    Attributes
    ----------
    limit
        The value of the method's parameter that limits this promise, where it has one.
    """

    domain: Domain
    groupings: tuple[Grouping, ...]
    tables: Tables
    limit: int = 0


S = TypeVar("S", bound=Seen)


@dataclass(frozen=True, eq=False)
class Drawn(Seen):
    """The public data beside the original. Confidential.

    Attributes
    ----------
    kept
        The margins that are promised to be exact; by default the grand total.
    """

    problem: Problem = field(kw_only=True)
    findings: Mapping[str, object] = field(kw_only=True)
    kept: Publication | None = field(kw_only=True)

    def truth(self, published: PublishedTable) -> Ints:
        """The original's counts of a published table's cells."""
        return true_table(self.problem.table, published.table.domain, self.groupings).counts


@dataclass(frozen=True)
class Guarantee:
    """A promise.

    Attributes
    ----------
    label
        A few words, for a list.
    check
        Says what is wrong with a draft, or ``""``; ``None`` where one run cannot show it.
    seen
        The same check where every reader can make it.
    sentence
        The promise as most methods word it.
    """

    label: str
    check: Callable[[Drawn], str] | None = None
    seen: Callable[[Seen], str] | None = None
    sentence: str = ""


def verify(method: Promising, problem: Problem, values: Values, draft: Draft) -> None:
    """Check every promise.

    Raises
    ------
    InfeasibleError
        When one is broken: the method does not work on this table.
    """
    domain, broken = problem.table.domain, []
    for name in method.promised(values):
        if check := GUARANTEES[name].check:
            drawn = Drawn(
                domain,
                groupings_of(domain, values),
                draft.tables,
                _limit(method, name, values),
                problem=problem,
                findings=draft.findings,
                kept=method.kept(domain, values),
            )
            if reason := check(drawn):
                broken.append(message("{lower}: {reason}", GUARANTEES[name].label.lower(), reason))
    broken += broken_openly(method, domain, values, draft.tables)
    if broken:
        raise InfeasibleError(
            message("the method broke its own promise on this table; nothing was released"),
            hint=message("take another method or other parameters, and report this table's shape"),
            detail=joined(broken, "\n"),
        )


def broken_openly(method: Promising, domain: Domain, values: Values, tables: Tables) -> list[str]:
    """The promises that the published tables themselves break, each with the reason."""
    reasons = []
    for name in method.promised(values):
        if seen := GUARANTEES[name].seen:
            case = Seen(domain, groupings_of(domain, values), tables, _limit(method, name, values))
            if reason := seen(case):
                reasons.append(message("{lower}: {reason}", GUARANTEES[name].label.lower(), reason))
    return reasons


def _limit(method: Promising, name: str, values: Values) -> int:
    """The value of the parameter that limits a promise; 0 where there is none."""
    return (values[method.limits[name]] if name in method.limits else None) or 0


def _first(published: PublishedTable, wrong: np.ndarray, what: str) -> str:
    if not wrong.any():
        return ""
    domain = published.table.domain
    index = tuple(int(i) for i in np.argwhere(wrong)[0])
    return message("{what} at {index}", what, domain.cell_text(index))


def _no_cell(wrong: Callable[[S, PublishedTable], Bools], what: Callable[[int], str]) -> Callable[[S], str]:
    """A check that no published cell is wrong; ``what`` says it, by the limit of the promise."""

    def check(seen: S) -> str:
        for published in seen.tables:
            cells = np.asarray(wrong(seen, published)) & ~published.hidden
            if found := _first(published, cells, what(seen.limit)):
                return found
        return ""

    return check


def _margins_kept(drawn: Drawn) -> str:
    kept = drawn.kept or Publication(drawn.domain, ((),))
    for margin, true, published in zip(
        kept.margins, kept.sums(drawn.problem.table), kept.sums(drawn.tables[0].table), strict=True
    ):
        if true != published:
            return message("the margin {value}", " × ".join(margin) or "total")
    return ""


def _total_kept(drawn: Drawn) -> str:
    published = drawn.tables[0].table.total
    return "" if published == drawn.problem.table.total else message("the grand total differs")


def _finer(coarse: Domain, fine: Domain, groupings: tuple[Grouping, ...]) -> bool:
    """Return True if every variable of one table is one of another, or groups one of it."""
    of = {g.name: g.of for g in groupings}
    return all(v in fine.variables or of.get(v.name) in fine.names for v in coarse.variables)


def _pairs(
    tables: Tables, groupings: tuple[Grouping, ...]
) -> Iterator[tuple[PublishedTable, PublishedTable]]:
    """(finer, coarser) tables without suppressed cells."""
    for fine, coarse in permutations(tables, 2):
        whole = fine.suppressed is None and coarse.suppressed is None
        if whole and _finer(coarse.table.domain, fine.table.domain, groupings):
            yield fine, coarse


def _additive(seen: Seen) -> str:
    for fine, coarse in _pairs(seen.tables, seen.groupings):
        summed = true_table(fine.table, coarse.table.domain, seen.groupings)
        found = _first(coarse, summed.counts != coarse.table.counts, message("a total does not add up"))
        if found:
            return found
    return ""


def _complete(seen: Seen) -> str:
    for published in seen.tables:
        found = _first(published, published.hidden, message("no count"))
        if found:
            return found
    return ""


def _intervals(drawn: Drawn) -> str:
    audit = drawn.findings.get("audit")
    if not isinstance(audit, Mapping):
        return message("there was no audit")
    failing = int(audit.get("unprotected", 0))
    return (
        plural(
            failing,
            "{failing} primary cell lacks its interval",
            "{failing} primary cells lack their interval",
            failing,
        )
        if failing
        else ""
    )


GUARANTEES: Mapping[str, Guarantee] = MappingProxyType(
    {
        "margins_kept": Guarantee(message("Margins kept"), _margins_kept),
        "total_kept": Guarantee(
            message("Grand total kept"), _total_kept, sentence=message("The grand total is exact.")
        ),
        "additive": Guarantee(
            message("Adds up"),
            seen=_additive,
            sentence=message("The published table adds up: inner cells to margins."),
        ),
        "complete": Guarantee(
            message("No count hidden"),
            seen=_complete,
            sentence=message("Every cell of a published table has its count: none is hidden."),
        ),
        "non_negative": Guarantee(
            message("No negative count"),
            seen=_no_cell(lambda _, p: p.table.counts < 0, lambda _: message("a negative count")),
            sentence=message("No published count is negative."),
        ),
        "zeros_kept": Guarantee(
            message("Zeros stay zero"),
            _no_cell(
                lambda drawn, p: (drawn.truth(p) == 0) & (p.table.counts != 0),
                lambda _: message("a zero became positive"),
            ),
            sentence=message("A zero stays zero."),
        ),
        "multiples_of_base": Guarantee(
            message("Multiples of the base"),
            seen=_no_cell(
                lambda seen, p: p.table.counts % seen.limit != 0,
                lambda base: message("no multiple of {base}", base),
            ),
            sentence=message("Every published count is a multiple of the base."),
        ),
        "within_base": Guarantee(
            message("Within the base"),
            _no_cell(
                lambda drawn, p: np.abs(p.table.counts - drawn.truth(p)) >= drawn.limit,
                lambda base: message("a change of {base} or more", base),
            ),
        ),
        "none_below_base": Guarantee(
            message("No small count published"),
            seen=_no_cell(
                lambda seen, p: (p.table.counts > 0) & (p.table.counts < seen.limit),
                lambda base: message("a count between 0 and {base}", base),
            ),
        ),
        "exact": Guarantee(
            message("What is published is exact"),
            _no_cell(lambda drawn, p: drawn.truth(p) != p.table.counts, lambda _: message("a changed count")),
        ),
        "within_deviation": Guarantee(
            message("Noise within its bound"),
            _no_cell(
                lambda drawn, p: np.abs(p.table.counts - drawn.truth(p)) > drawn.limit,
                lambda most: message("a change of more than {most}", most),
            ),
        ),
        "small_avoided": Guarantee(
            message("Small counts avoided"),
            seen=_no_cell(
                lambda seen, p: (p.table.counts > 0) & (p.table.counts <= seen.limit),
                lambda small: message("a count between 1 and {small}", small),
            ),
        ),
        "no_at_risk": Guarantee(
            message("No small count published"),
            _no_cell(
                lambda drawn, p: (
                    drawn.problem.at_risk.mask(drawn.truth(p)) & (p.table.counts == drawn.truth(p))
                ),
                lambda _: message("a small count published as it is"),
            ),
        ),
        "intervals_protected": Guarantee(message("Protection intervals hold"), _intervals),
        "bounded": Guarantee(message("Bounded change")),
        "consistent": Guarantee(message("Consistent between tables")),
        "unbiased": Guarantee(
            "Unbiased",
            sentence=message("Before the gate, E[published | original] = original, count by count."),
        ),
        "differential_privacy": Guarantee(message("Differential privacy")),
        "posterior": Guarantee(
            message("Readers can work out what to believe"),
            sentence=message("What to believe of every true count can be worked out from the release alone."),
        ),
    }
)


def promises(*given: str | tuple[str, str]) -> Mapping[str, str]:
    """A method's promises and their sentences: by name, or with a sentence of its own."""
    pairs = ((one, GUARANTEES[one].sentence) if isinstance(one, str) else one for one in given)
    return MappingProxyType(dict(pairs))
