"""What methods promise, by name, and how a promise is checked on what a run produced.

A method that breaks a promise on a table raises; its result is never returned. Promises about
averages (unbiased) and about readers (posterior) cannot be seen on one run: tests check them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations
from types import MappingProxyType
from typing import cast

import numpy as np

from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.parameters import Values
from tabprotect.engine.protection.problem import Draft, Problem
from tabprotect.engine.protection.subtables import groupings_of
from tabprotect.engine.release.release import PublishedTable
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.grouping import Grouping
from tabprotect.engine.tables.groupings.true_table import true_table
from tabprotect.engine.tables.margins import all_margins
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.publication import Publication

Check = Callable[[Problem, Values, Draft], str]
Tables = tuple[PublishedTable, ...]
Seen = Callable[[Domain, Values, Tables], str]


@dataclass(frozen=True)
class Guarantee:
    """A promise.

    Attributes
    ----------
    label
        In a few words, for a list.
    check
        What is wrong with a draft, or ``""``; ``None`` where one run cannot show it.
    seen
        The same where every reader can see it: of the variables, the values and the published
        tables alone.
    sentence
        How it is said of most methods that promise it.
    """

    label: str
    check: Check | None = None
    seen: Seen | None = None
    sentence: str = ""


def verify(names: tuple[str, ...], problem: Problem, values: Values, draft: Draft) -> None:
    """Check every promise.

    Raises
    ------
    InfeasibleError
        When one is broken: the method does not work on this table.
    """
    broken = []
    for name in names:
        check = GUARANTEES[name].check
        reason = "" if check is None else check(problem, values, draft)
        if reason:
            broken.append(f"{GUARANTEES[name].label.lower()}: {reason}")
    broken += broken_openly(names, problem.table.domain, values, draft.tables)
    if broken:
        raise InfeasibleError(
            "the method broke its own promise on this table; nothing was released",
            hint="take another method or other parameters, and report this table's shape",
            detail="\n".join(broken),
        )


def broken_openly(
    names: tuple[str, ...], domain: Domain, values: Values, tables: Tables
) -> list[str]:
    """The promises that the published tables themselves break, each with the reason."""
    reasons = []
    for name in names:
        seen = GUARANTEES[name].seen
        if seen is not None and (reason := seen(domain, values, tables)):
            reasons.append(f"{GUARANTEES[name].label.lower()}: {reason}")
    return reasons


def _first(published: PublishedTable, wrong: np.ndarray, what: str) -> str:
    if not wrong.any():
        return ""
    domain = published.table.domain
    index = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{what} at {domain.cell_text(index)}"


def _each(tables: Tables, wrong: Callable[[PublishedTable], np.ndarray], what: str) -> str:
    for published in tables:
        found = _first(published, wrong(published) & ~published.hidden, what)
        if found:
            return found
    return ""


def _truth(problem: Problem, values: Values, published: PublishedTable) -> np.ndarray:
    groupings = groupings_of(problem.table.domain, values)
    return true_table(problem.table, published.table.domain, groupings).counts


def _non_negative(domain: Domain, values: Values, tables: Tables) -> str:
    return _each(tables, lambda p: p.table.counts < 0, "a negative count")


def _zeros_kept(problem: Problem, values: Values, draft: Draft) -> str:
    return _each(
        draft.tables,
        lambda p: (_truth(problem, values, p) == 0) & (p.table.counts != 0),
        "a zero became positive",
    )


def _exact(problem: Problem, values: Values, draft: Draft) -> str:
    return _each(
        draft.tables, lambda p: _truth(problem, values, p) != p.table.counts, "a changed count"
    )


def _margins_kept(problem: Problem, values: Values, draft: Draft) -> str:
    moves = draft.disclosed.get("cycles", values.get("cycles"))
    domain = problem.table.domain
    kept = moves.publication if isinstance(moves, MoveSet) else None
    stated = values.get("kept")
    if isinstance(stated, str):
        kept = Publication.of(domain, stated or "1")
    elif isinstance(stated, (list, tuple)):
        kept = Publication.of(domain, cast("list[list[str]]", stated))
    if kept is None:
        kept = Publication(domain, all_margins(domain))
    for margin, true, published in zip(
        kept.margins, kept.sums(problem.table), kept.sums(draft.tables[0].table), strict=True
    ):
        if true != published:
            return f"the margin {' × '.join(margin) or 'total'}"
    return ""


def _total_kept(problem: Problem, values: Values, draft: Draft) -> str:
    published = draft.tables[0].table.total
    return "" if published == problem.table.total else "the grand total differs"


def _finer(coarse: Domain, fine: Domain, groupings: tuple[Grouping, ...]) -> bool:
    """Whether every variable of one table is one of another, or groups one of it."""
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


def _additive(domain: Domain, values: Values, tables: Tables) -> str:
    groupings = groupings_of(domain, values)
    for fine, coarse in _pairs(tables, groupings):
        summed = true_table(fine.table, coarse.table.domain, groupings)
        found = _first(coarse, summed.counts != coarse.table.counts, "a total does not add up")
        if found:
            return found
    return ""


def _whole(values: Values, *names: str) -> int:
    """The first of these parameters that a method has."""
    value = next(values[name] for name in names if name in values)
    assert isinstance(value, int)
    return value


def _complete(domain: Domain, values: Values, tables: Tables) -> str:
    for published in tables:
        found = _first(published, published.hidden, "no count")
        if found:
            return found
    return ""


def _multiples(domain: Domain, values: Values, tables: Tables) -> str:
    base = _whole(values, "base")
    return _each(tables, lambda p: p.table.counts % base != 0, f"no multiple of {base}")


def _within_base(problem: Problem, values: Values, draft: Draft) -> str:
    base = _whole(values, "base")
    return _each(
        draft.tables,
        lambda p: np.abs(p.table.counts - _truth(problem, values, p)) >= base,
        f"a change of {base} or more",
    )


def _none_below_base(domain: Domain, values: Values, tables: Tables) -> str:
    base = _whole(values, "base")
    return _each(
        tables,
        lambda p: (p.table.counts > 0) & (p.table.counts < base),
        f"a count between 0 and {base}",
    )


def _within_deviation(problem: Problem, values: Values, draft: Draft) -> str:
    most = _whole(values, "D", "cap")
    return _each(
        draft.tables,
        lambda p: np.abs(p.table.counts - _truth(problem, values, p)) > most,
        f"a change of more than {most}",
    )


def _small_avoided(domain: Domain, values: Values, tables: Tables) -> str:
    small = _whole(values, "js")
    return _each(
        tables,
        lambda p: (p.table.counts > 0) & (p.table.counts <= small),
        f"a count between 1 and {small}",
    )


def _no_at_risk(problem: Problem, values: Values, draft: Draft) -> str:
    rule = problem.at_risk
    return _each(
        draft.tables,
        lambda p: (
            rule.mask(_truth(problem, values, p)) & (p.table.counts == _truth(problem, values, p))
        ),
        "an at-risk count published as it is",
    )


def _intervals(problem: Problem, values: Values, draft: Draft) -> str:
    audit = draft.findings.get("audit")
    if not isinstance(audit, Mapping):
        return "there was no audit"
    failing = int(audit.get("unprotected", 0))
    return f"{failing} primary cells lack their interval" if failing else ""


GUARANTEES: Mapping[str, Guarantee] = MappingProxyType(
    {
        "margins_kept": Guarantee("Margins kept", _margins_kept),
        "total_kept": Guarantee(
            "Grand total kept", _total_kept, sentence="The grand total is exact."
        ),
        "additive": Guarantee(
            "Adds up",
            seen=_additive,
            sentence="The published table adds up: inner cells to margins.",
        ),
        "complete": Guarantee(
            "No count hidden",
            seen=_complete,
            sentence="Every cell of a published table has its count: none is hidden.",
        ),
        "non_negative": Guarantee(
            "No negative count", seen=_non_negative, sentence="No published count is negative."
        ),
        "zeros_kept": Guarantee("Zeros stay zero", _zeros_kept, sentence="A zero stays zero."),
        "multiples_of_base": Guarantee(
            "Multiples of the base",
            seen=_multiples,
            sentence="Every published count is a multiple of the base.",
        ),
        "within_base": Guarantee("Within the base", _within_base),
        "none_below_base": Guarantee("No small count published", seen=_none_below_base),
        "exact": Guarantee("What is published is exact", _exact),
        "within_deviation": Guarantee("Noise within its bound", _within_deviation),
        "small_avoided": Guarantee("Small counts avoided", seen=_small_avoided),
        "no_at_risk": Guarantee("No at-risk count published", _no_at_risk),
        "intervals_protected": Guarantee("Protection intervals hold", _intervals),
        "bounded": Guarantee("Bounded change"),
        "consistent": Guarantee("Consistent between tables"),
        "unbiased": Guarantee(
            "Unbiased",
            sentence="Before the gate, E[published | original] = original, count by count.",
        ),
        "differential_privacy": Guarantee("Differential privacy"),
        "posterior": Guarantee(
            "Posterior computable",
            sentence="The posterior of every true cell is computable from the bundle alone.",
        ),
    }
)


def promises(*given: str | tuple[str, str]) -> Mapping[str, str]:
    """What a method promises, in words: by name, or with a sentence of its own."""
    pairs = ((one, GUARANTEES[one].sentence) if isinstance(one, str) else one for one in given)
    return MappingProxyType(dict(pairs))
