"""The small sums that a release publishes exactly on purpose.

A suppression hides such sums, other methods publish them because keeping them was asked for: who
publishes has to know. They are exact by design, so that no verdict judges them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from tabprotect.engine.arrays import Bools
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.exact_margins import margin_cell
from tabprotect.engine.release.likelihood import CellFactors, Likelihood
from tabprotect.engine.release.release import Release
from tabprotect.engine.release.verdict_figures import KeptSum
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table


def exact_small_margins(
    release: Release, likelihood: Likelihood | None, rule: SmallCount
) -> tuple[KeptSum, ...]:
    """The at-risk sums that a release publishes exactly, table by table.

    Parameters
    ----------
    likelihood
        That of the release, where it is known: it tells which sums of other methods are exact.
    """
    method, values = methods()[release.mechanism.method], release.mechanism.values
    if kept := method.kept(release.domain, values):
        return small_sums(release.table, kept, rule)
    if "exact" in method.promised(values):
        return tuple(
            one
            for published in release.tables
            if published.table.domain != release.domain
            for one in _cells(published.table, rule, published.suppressed)
        )
    return tuple(_fixed(likelihood, rule)) if isinstance(likelihood, CellFactors) else ()


def small_sums(table: Table, kept: Publication, rule: SmallCount) -> tuple[KeptSum, ...]:
    """The at-risk ones among the sums of a table that are to be kept.

    Of an original that is confidential: who chooses the sums sees what publishing them would tell.
    """
    return tuple(
        one
        for summed in kept.maximal().sums(table)
        if summed.domain != table.domain
        for one in _cells(summed, rule)
    )


def largest_safe_margins(problem: Problem) -> tuple[tuple[str, ...], ...]:
    """The margins without a sum at risk that are inside no other such margin.

    A margin that has one has it in all finer ones, up to zeros: those are not looked at.
    """
    table, names = problem.table, problem.table.domain.names
    safe: list[tuple[str, ...]] = [()]
    found: list[tuple[str, ...]] = []
    for size in range(len(names)):
        if size:
            known = set(safe)
            safe = [
                margin
                for margin in combinations(names, size)
                if all(part in known for part in combinations(margin, size - 1))
            ]
        safe = [one for one in safe if not problem.at_risk.mask(table.margin(one).counts).any()]
        found = [one for one in found if not any({*one} < {*other} for other in safe)] + safe
    return tuple(found)


def _cells(table: Table, rule: SmallCount, hidden: Bools | None = None) -> Iterator[KeptSum]:
    keys, counts = table.cells
    small = rule.mask(counts)
    if hidden is not None:
        small &= ~hidden.reshape(-1)[keys]
    for key, count in zip(keys[small].tolist(), counts[small].tolist(), strict=True):
        yield KeptSum(table.domain.names, _labels(table.domain, key), count, hidden is None)


def _fixed(likelihood: CellFactors, rule: SmallCount) -> Iterator[KeptSum]:
    """At-risk sums of several inner cells that a factor fixes."""
    low = likelihood.low[likelihood.kind]
    fixed = (low == likelihood.high[likelihood.kind]) & rule.mask(low)
    for factor in np.flatnonzero(fixed & (np.diff(likelihood.starts) > 1)).tolist():
        cells = likelihood.cells[likelihood.starts[factor] : likelihood.starts[factor + 1]]
        where = margin_cell(likelihood.domain, cells.tolist())
        if where is not None:
            names, key = where
            domain = likelihood.domain.project(names)
            yield KeptSum(names, _labels(domain, key) if names else (), int(low[factor]), whole=False)


def _labels(domain: Domain, key: int) -> tuple[str, ...]:
    return tuple(domain.labels(domain.unflat(key)))
