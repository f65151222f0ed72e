"""The counts among the measures of a release: what it says of how many records each cell has.

Numbers that are published beside magnitudes, and those that follow from sums and their means, are true
counts of which some are hidden by a rule about other figures. They are read as counts that were
suppressed by given statuses.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product as combinations

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.belief.evidence import Evidence
from tabprotect.engine.protection.published_margins import Support, rank
from tabprotect.engine.protection.registered import likelihood_of
from tabprotect.engine.protection.subtables import MARGINS, publication_of
from tabprotect.engine.release.likelihood import UNBOUNDED, CellFactors, product
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.published_magnitudes import PublishedMagnitudes
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.formula import in_formula
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.variable import Variable

RECORDS = "1..1"
"""A rule by which no empty cell is at risk: that a cell has no record is published."""


def counts_among(release: Release) -> Evidence | None:
    """Return what a release says of counts; ``None`` where they are none of its measures.

    Raises
    ------
    InfeasibleError
        Where tables of so many cells are not laid out.
    """
    if release.tables:
        return Evidence(release)
    published, domain = release.magnitude_table, release.domain
    if not published.beside:
        return None
    # Late: most releases that are read hide nothing by it, and it takes a tenth of a second.
    from tabprotect.engine.protection.methods.suppression import CHOICE, Suppression
    from tabprotect.engine.protection.suppressing.sums import GIVEN

    method = Suppression()
    asked = {MARGINS.name: _every_margin(domain, published.variables), CHOICE.name: "cheapest"}
    values = method.resolve(domain, asked)
    publication = publication_of(domain, values)
    least, most = _laid_out(published, publication)
    hidden = least < most
    split = zip(publication.tables(np.where(hidden, 0, least)), publication.starts, strict=False)
    tables = [
        PublishedTable.hiding(table, hidden[start:][: table.domain.size].reshape(table.domain.shape))
        for table, start in split
    ]
    tables.sort(key=lambda one: rank(one.table.domain, domain))
    public = {one.name: values[one.name] for one in method.parameters if one.public}
    mechanism = Mechanism(method.name, domain, {**public, "at_risk": RECORDS, GIVEN: True})
    counts = Release(tuple(tables), mechanism, release.title)
    found = likelihood_of(counts)
    assert isinstance(found, CellFactors)
    # Where magnitudes have noise nothing was chosen.
    found = replace(found, note="", left_out=found.left_out if published.hidden.any() else ())
    # They are let out with the magnitudes; of draws that were refused the counts are no part.
    gate = (stated := release.mechanism.gate) and replace(
        stated, refused=(), changed=stated.changed or bool(stated.refused)
    )
    # That a cell has records is known of every hidden one; a mean may tell more.
    more = np.flatnonzero(hidden & ((least > 1) | (most < UNBOUNDED)))
    if not len(more):
        return Evidence(counts, found, gate=gate)
    ends: list[Support] = [(int(least[cell]), int(most[cell]), None) for cell in more.tolist()]
    kind = np.arange(len(more), dtype=np.int64)
    told = CellFactors.of(domain, counts.tables, publication.behind(more), kind, ends)
    return Evidence(counts, product([found, told]), alone=True, gate=gate)


def _every_margin(domain: Domain, variables: tuple[Variable, ...]) -> str:
    """The formula of all tables that cells of magnitudes are cells of."""
    names = [[variable.name, *variable.named] for variable in variables]
    tables = combinations(*([*own, None] for own in names))
    return " + ".join(":".join(in_formula(name) for name in table if name) or "1" for table in tables)


def _laid_out(published: PublishedMagnitudes, publication: Publication) -> tuple[Ints, Ints]:
    """The least and the most records of every cell of these tables, int64 (size,); 0 of one without."""
    ends = np.zeros((2, publication.size), dtype=np.int64)
    numbers = [np.minimum(of, UNBOUNDED) for of in published.numbers]
    for m, of in enumerate(publication.domains):
        nodes, entries = [], {publication.domain.axis_of(entry): entry for entry in of.names}
        for number, variable in enumerate(published.variables):
            entry = entries.get(number)
            names = () if entry is None else of[entry].categories
            nodes.append([variable.node(str(entry), name) for name in names] or [len(variable.nodes) - 1])
        key = np.ravel_multi_index(np.ix_(*nodes), published.shape).reshape(-1)
        place = np.searchsorted(published.key, key)
        there = place < len(published.key)
        there[there] = published.key[place[there]] == key[there]
        run = np.arange(publication.starts[m], publication.starts[m + 1])
        for end, known in zip(ends, numbers, strict=True):
            end[run[there]] = known[place[there]]
    return ends[0], ends[1]
