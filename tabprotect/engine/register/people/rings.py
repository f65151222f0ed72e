"""Tables of the same records that hang together in a ring, as A x B, B x C and A x C do. Confidential.

They are margins of one table, which is more than what they say two by two. Where every margin that two of them
share is stated exactly, and with an even belief over all tables that are margins of one,

    P(tables | releases) = prod P(table | its release, the shared margins) 1{margins of one table} / R

with R the share of the product that are margins of one table. Tables are drawn from the product, a programme
in whole numbers tells of each draw whether one table has all of these margins, and R bounds what every belief
can become (``posterior.widening``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.belief.evidence import Evidence, OfRelease
from tabprotect.engine.disclosure.cell_beliefs import TableBelief
from tabprotect.engine.disclosure.refusals import at_least
from tabprotect.engine.disclosure.widened import cells_may_fail
from tabprotect.engine.errors import InfeasibleError, InputError
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.together.coarser import is_coarser
from tabprotect.engine.posterior.widening import Widening
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.register.people.grouped_categories import groups_between, over_categories
from tabprotect.engine.register.people.other_order import in_order
from tabprotect.engine.register.people.parts_of_whole import together_at_risk
from tabprotect.engine.register.people.stated_margins import (
    believed_cells,
    cells_and_sums,
    exact_margin,
    known_margin,
    published_sums,
)
from tabprotect.engine.release.likelihood import CellFactors
from tabprotect.engine.release.mechanism import Gate
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Variable

TRIED = 40
"""Draws of all tables of a ring for which it is looked whether they are margins of one."""

MOST_TABLES = 16
"""Tables of a ring that are read."""

MOST_CELLS = 4_096
"""Cells of the table of all variables of a ring: a programme on so many takes a tenth of a second."""

MOST_NODES = 200
"""Nodes that a programme may branch into: a draw for which that is not enough counts as one that does not fit."""


def ring_among(domains: Sequence[Domain]) -> list[int]:
    """Return which tables say more together than what each two of them say, by their numbers.

    What one table alone has is left out of it, and a table whose variables another one has, until nothing is.
    """
    left = {number: set(domain.names) for number, domain in enumerate(domains)}
    while True:
        names = {
            number: {name for name in mine if sum(name in other for other in left.values()) > 1}
            for number, mine in left.items()
        }
        kept = {
            number: mine
            for number, mine in names.items()
            if not any(
                mine < other or (mine == other and number > place)
                for place, other in names.items()
                if place != number
            )
        }
        if kept == left:
            return list(kept) if len(kept) > 1 else []
        left = kept


@dataclass(frozen=True, eq=False)
class Ring:
    """Releases of tables that hang together in a ring, among all releases of these records.

    Attributes
    ----------
    read
        All of them, the release at hand first.
    limits
    """

    read: Sequence[Evidence]
    limits: Gate
    progress: Progress = SILENT

    def tells_little(self) -> bool:
        """Return True if no belief can be brought beyond the limits by what all tables say together."""
        try:
            tables = self._tables()
            if not tables:
                return False
            found = [self._believed(table) for table in tables]
            widening = Widening(0.0, at_least(TRIED, self._fitting(found)))
            beliefs = [belief for one in found for belief in self._of(one)]
        except (InfeasibleError, InputError):
            return False
        limits = replace(self.limits, at_risk=together_at_risk(self.limits, self.read))
        return not any(cells_may_fail(one, widening, limits) for one in beliefs)

    def _of(self, found: Posterior) -> list[TableBelief]:
        """What is believed of a table and of all published sums of it."""
        alike = [one.release for one in self.read if one.domain == found.domain]
        published = (sums for release in alike for sums in published_sums(release, found.domain))
        return cells_and_sums(found, published, OfRelease(self.read[0].release, "sums of a ring"))

    def _tables(self) -> list[Evidence]:
        """The finest release of each table of the ring; none where they are too many or too large."""
        domains = [one.domain for one in self.read]
        found = []
        for number in ring_among(domains):
            names = set(domains[number].names)
            alike = (one for one in self.read if set(one.domain.names) == names)
            found.append(max(alike, key=lambda one: one.domain.size))
        variables = finest_variables(found)
        if len(found) > MOST_TABLES or Domain(tuple(variables.values())).size > MOST_CELLS:
            return []
        fine = all(variables[v.name] == v for one in found for v in one.domain.variables)
        whole = all(one.likelihood.domain == one.domain for one in found)
        return found if fine and whole else []

    def _believed(self, table: Evidence) -> Posterior:
        """What is believed of one table, given all that is stated of the margins that it shares.

        Raises
        ------
        InfeasibleError
            Where a shared margin is not stated, or a release of the same table cannot be put to it.
        """
        domain, mine = table.domain, [table]
        for one in self.read:
            if one is not table and set(one.domain.names) <= set(domain.names):
                mine.append(_of_table(one, table, self.read))
        stated: list[tuple[str, ...]] = []
        for other in self.read:
            shared = tuple(name for name in domain.names if name in other.domain.names)
            if not shared or len(shared) == len(other.domain.names):
                continue
            if exact_margin(table, shared) is not None or shared in stated:
                continue
            margin = _stated(self.read, domain.project(shared))
            if margin is None:
                raise InfeasibleError("a shared margin is stated by none of them")
            stated.append(shared)
            mine.append(known_margin(table.release, margin))
        return believed_cells(mine, OfRelease(table.release, "a ring"), self.progress)

    def _fitting(self, found: Sequence[Posterior]) -> int:
        """The number of draws that are margins of one table."""
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_matrix, vstack

        variables: dict[str, Variable] = {}
        for one in found:
            variables |= {variable.name: variable for variable in one.domain.variables}
        whole = Domain(tuple(variables.values()))
        cells = np.arange(whole.size, dtype=np.int64)
        sums = vstack(
            [
                csr_matrix(
                    (np.ones(whole.size), (_key(whole, cells, one.domain), cells)),
                    shape=(one.domain.size, whole.size),
                )
                for one in found
            ]
        )
        chance = OfRelease(self.read[0].release, "tables of a ring").generator()
        drawn = np.concatenate([one.draw_originals(TRIED, chance, self.progress) for one in found], axis=1)
        none, integer = np.zeros(whole.size), np.ones(whole.size, dtype=np.int64)
        return sum(
            milp(
                none,
                integrality=integer,
                bounds=Bounds(0, np.inf),
                constraints=[LinearConstraint(sums, tables, tables)],
                options={"node_limit": MOST_NODES},
            ).x
            is not None
            for tables in drawn
        )


def finest_variables(tables: Sequence[Evidence]) -> dict[str, Variable]:
    """The variables of the table of all of them, each with its finest categories."""
    found: dict[str, Variable] = {}
    for one in tables:
        for variable in one.domain.variables:
            known = found.setdefault(variable.name, variable)
            if len(variable.categories) > len(known.categories):
                found[variable.name] = variable
    return found


def _key(whole: Domain, cells: Ints, of: Domain) -> Ints:
    """The cell of a table that each cell of the whole is in, whatever the order of its variables."""
    codes = np.unravel_index(cells, whole.shape)
    return np.ravel_multi_index([codes[whole.axis(name)] for name in of.names], of.shape)


def _stated(read: Sequence[Evidence], domain: Domain) -> Table | None:
    """A margin as one of some releases states it whole; ``None`` where none does."""
    alike = (one for one in read if all(v in one.domain.variables for v in domain.variables))
    return next((found for one in alike if (found := exact_margin(one, domain.names)) is not None), None)


def _of_table(one: Evidence, table: Evidence, read: Sequence[Evidence]) -> Evidence:
    """A release of the same variables, or of some of them, as evidence of a table.

    Raises
    ------
    InfeasibleError
        Where it has other categories, and it is not settled which are groups of which; or it is by moves.
    """
    domain, one = table.domain, in_order(one, table.domain)
    own = one.likelihood.domain
    if own == domain or is_coarser(own, domain):
        return one
    codes = codes_among(one, own.names, domain, read)
    if not isinstance(one.likelihood, CellFactors):
        raise InfeasibleError("it is by moves")
    return replace(one, known=over_categories(one.likelihood, domain, codes), alone=True)


def codes_among(
    one: Evidence, names: Sequence[str], domain: Domain, read: Sequence[Evidence]
) -> dict[str, tuple[str, Ints]]:
    """The code in a release of each category of the finer variables of its own names.

    Raises
    ------
    InfeasibleError
        Where it is not settled which categories go together.
    """
    codes = {}
    for variable in one.likelihood.domain.project(names).variables:
        fine = domain[variable.name]
        codes[variable.name] = variable.name, np.arange(len(fine.categories), dtype=np.int64)
        if fine.categories != variable.categories:
            stated = _stated(read, domain.project((variable.name,)))
            groups = [] if stated is None else groups_between(stated, one, (), alike=True)
            if len(groups) != 1 or groups[0].group is None or not groups[0].mine_is_fine:
                raise InfeasibleError("it is not settled which categories go together")
            codes[variable.name] = variable.name, groups[0].group
    return codes
