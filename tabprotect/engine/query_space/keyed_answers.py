"""Answers with noise by cell keys: any sub-table of counted records, the same noise in every table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from tabprotect.engine.fitting.margin_variance import least_deviation
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.query_space.lattice import Lattice, Query
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.formula import in_formula
from tabprotect.engine.tables.table import Table

METHOD = "cell_key"

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
    """

    domain: Domain
    count: Callable[[tuple[str, ...]], tuple[Table, Table]]
    key_range: int
    given: Mapping[str, object]

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

    def deviation_left(self, lattice: Lattice, queries: Sequence[Query]) -> float:
        """The standard deviation that least squares over these sub-tables leaves on a count of theirs.

        Columns of records have no levels: no variable is the sum of another.
        """
        shape = [len(self.domain[name].categories) for name in lattice.names]
        tables = np.array([[name in lattice.names_of(q) for name in lattice.names] for q in queries])
        return least_deviation(shape, tables, float(str(self.given["V"])))
