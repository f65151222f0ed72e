"""Answers with noise by cell keys: any sub-table of counted records, the same noise in every table."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from tabprotect.engine.fitting.margin_variance import LeastLeft
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.formula import in_formula
from tabprotect.engine.tables.table import Table

METHOD = "cell_key"

LEAST = 1.15
"""The standard deviation that is left at least on counts of tables that may hold one at risk. Readers who
list all originals then know about 1 small count in 100, of a 2 x 2 x 2 table too with all its sub-tables, and
those who know beforehand how counts are spread about 3."""

LEAST_D = 5
"""The least of the largest noise. With less, several numbers shut out all originals but one however large
the variance is: with 2 one small count in four of a 2 x 2 x 2 table is known, with 3 one in ten, with 4 one
in forty."""

KEPT = 64
"""Answers that are kept at hand."""


@dataclass(frozen=True, eq=False, repr=False)
class KeyedAnswers:
    """Records counted by whichever variables are asked for, with the sums of their keys. Confidential.

    Attributes
    ----------
    domain
        Of all variables that are served.
    count
        Counts of records by some variables, and the sums of their keys, modulo ``key_range``.
    given
        Parameters of ``cell_key``: D, V and js.
    most
        The largest published count behind which a count at risk may be.
    """

    domain: Domain
    count: Callable[[tuple[str, ...]], tuple[Table, Table]]
    key_range: int
    given: Mapping[str, object]
    most: int

    def release(self, names: tuple[str, ...], title: str = "") -> Release:
        """The sub-table of some variables, without totals of its own, as a release.

        A function of the records counted in it and of the key of the house: whoever asks, and whatever
        was asked before.
        """
        return replace(self._known(names), title=title)

    @cached_property
    def _known(self) -> Callable[[tuple[str, ...]], Release]:
        # What is decided on is published next.
        return lru_cache(maxsize=KEPT)(self._release)

    def _release(self, names: tuple[str, ...]) -> Release:
        counts, keys = self.count(names)
        problem = Problem(counts, record_keys=keys, key_range=self.key_range)
        method = methods()[METHOD]
        inner = ":".join(map(in_formula, names)) + " - 1" if names else "1"
        values = method.resolve_for(problem, {**self.given, "margins": inner, "keys": "hashed"})
        # All noise comes of the kept keys: nothing is drawn.
        return method.perform(problem, values, np.random.default_rng(0))[0]

    @cached_property
    def _put_together(self) -> list[tuple[tuple[Query, ...], LeastLeft]]:
        nothing = LeastLeft(np.array(self.domain.shape), float(str(self.given["V"])))
        return [((), nothing)]

    def deviation_left(self, out: tuple[Query, ...], query: Query) -> float:
        """The least standard deviation that least squares over what is out and one more would leave.

        On the counts of the tables that may hold one at risk: in the others nobody is alone. Columns of
        records have no levels: no variable is the sum of another.
        """
        every = np.arange(self.domain.ndim)
        nothing, *before = self._put_together
        known, left = next((kept for kept in before if kept[0] == out[: len(kept[0])]), nothing)
        for one in out[len(known) :]:
            left = left.and_one(one >> every & 1 > 0)
        self._put_together[1:] = [(out, left)]
        tables, found = left.and_one(query >> every & 1 > 0).deviations()
        for place in np.argsort(found).tolist():
            if found[place] >= LEAST or self._may_be_at_risk(tables[place].tobytes()):
                return float(found[place])
        return math.inf

    @cached_property
    def _may_be_at_risk(self) -> Callable[[bytes], bool]:
        return lru_cache(maxsize=None)(self._judged)

    def _judged(self, table: bytes) -> bool:
        names = tuple(name for name, held in zip(self.domain.names, table, strict=True) if held)
        return int(self._known(names).table.counts.min()) <= self.most
