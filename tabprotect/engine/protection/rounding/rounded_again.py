"""Whether a possible original has the published counts as its nearest rounding."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.protection.rounding.controlled_programme import MOST_NODES, ControlledProgramme, Known
from tabprotect.engine.protection.rounding.rounding_base import reaches
from tabprotect.engine.protection.rounding.rounding_network import RoundingNetwork
from tabprotect.engine.protection.rounding.rounding_steps import RoundingSteps
from tabprotect.engine.release.likelihood import Rerun
from tabprotect.engine.solver import RUN_COST
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table

AT_ONCE = 500
"""Originals that are told of at once."""

VISITS = 4
"""How often a small programme goes through its entries, with room to spare: only where that stays
below the stated cost of a call is a call counted alike with and without it."""


class RoundedAgain:
    """The rounding of one original after the other, where no programme is needed many at a time.

    Parameters
    ----------
    counts : int64 (size of the publication,)
        What was published.
    """

    def __init__(self, counts: Ints, publication: Publication, base: int, nodes: int) -> None:
        self._counts, self._publication = counts, publication
        self._base, self._nodes = base, nodes
        self._known = Known()

    def rerun(self) -> Rerun:
        """Return the rerun that a likelihood states."""
        return Rerun(self.estimate, exact=True, programmes=True, known_weights=self.known_weights)

    def estimate(self, original: Table, _: np.random.Generator) -> float:
        """1 if the original is rounded to what was published, else 0."""
        table, small = without_unused(original, self._publication)
        true = small.added_up(table)
        if not reaches(self._base, true):
            return 0.0
        steps = None if self._network is not None else self._steps
        if steps is not None and steps.rule_out(true[None], learnt=True)[0]:
            return 0.0
        programme = ControlledProgramme(table, small, self._base, self._nodes, self._known)
        try:
            found = small.added_up(programme.nearest().inner)
        except InfeasibleError:
            return 0.0
        if steps is not None:
            steps.learn(found)
        return float(np.array_equal(found, self._counts))

    def known_weights(self, originals: Ints) -> Floats:
        """Estimate many (originals, inner cells); NaN where it takes a programme."""
        found = np.full(len(originals), np.nan)
        if self._network is None and self._steps is None:
            return found
        for begin in range(0, len(originals), AT_ONCE):
            true = self._publication.added_up_each(originals[begin : begin + AT_ONCE])
            most = true.max(axis=1, initial=0)
            unreached: Bools = (most > 0) & (most < self._base)
            found[begin : begin + AT_ONCE] = np.where(unreached, 0.0, self._known_weights(true))
        return found

    def _known_weights(self, true: Ints) -> Floats:
        if self._network is not None:
            return self._network.nearest(true, self._counts)
        assert self._steps is not None
        return np.where(self._steps.rule_out(true), 0.0, np.nan)

    @cached_property
    def _network(self) -> RoundingNetwork | None:
        return RoundingNetwork.of(of_used(self._publication), self._base)

    @cached_property
    def _steps(self) -> RoundingSteps | None:
        """Steps, where programmes are so small that all find the nearest rounding at their root."""
        small = of_used(self._publication)
        entries = small.domain.size * len(small.margins) + 2 * small.size
        stated = self.rerun().cost_over(self._publication.domain.size)
        if self._nodes < MOST_NODES or RUN_COST + VISITS * entries > stated:
            return None
        return RoundingSteps.of(small, self._counts, self._base)


def published_names(publication: Publication) -> set[str]:
    """All names in the margins."""
    return {name for margin in publication.margins for name in margin}


def of_used(publication: Publication) -> Publication:
    """The same margins of a table without variables that nothing published tells apart."""
    of = {grouping.name: grouping.of for grouping in publication.groupings}
    known = {of.get(name, name) for name in published_names(publication)}
    if len(known) == publication.domain.ndim:
        return publication
    groupings = tuple(g for g in publication.groupings if g.of in known)
    return Publication(publication.domain.project(known), publication.margins, groupings)


def without_unused(table: Table, publication: Publication) -> tuple[Table, Publication]:
    """The table and its publication without variables that nothing published tells apart."""
    small = of_used(publication)
    return (table if small is publication else table.margin(small.domain.names)), small
