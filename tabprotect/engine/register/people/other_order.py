"""Releases of a table whose variables or categories are in another order than those of one at hand. Confidential no
more than these."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tabprotect.engine.belief.evidence import Evidence
from tabprotect.engine.register.people.grouped_categories import over_categories
from tabprotect.engine.release.likelihood import CellFactors, MoveSequence
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table


def in_order(evidence: Evidence, domain: Domain) -> Evidence:
    """The same about the table of another order; as it is where it is of another table, or cannot be laid out.

    Parameters
    ----------
    domain
        The variables and categories in the order that is wanted.
    """
    own = evidence.release.domain
    if own == domain or evidence.known is not None or set(own.names) != set(domain.names):
        return evidence
    if any(set(own[name].categories) != set(domain[name].categories) for name in own.names):
        return evidence
    known = evidence.likelihood
    codes = {
        name: np.array([own[name].categories.index(one) for one in domain[name].categories], dtype=np.int64)
        for name in own.names
    }
    if isinstance(known, CellFactors) and known.rerun is None and known.domain == own:
        laid_out = over_categories(known, domain, {name: (name, codes[name]) for name in own.names})
        return replace(evidence, known=laid_out, alone=True)
    if not isinstance(known, MoveSequence) or known.moves.groupings:
        return evidence
    at = np.indices(domain.shape).reshape(domain.ndim, -1)
    # The cell of the release for each cell in the order that is wanted.
    cells = np.ravel_multi_index([codes[name][at[domain.axis(name)]] for name in own.names], own.shape)
    counts = known.published.counts.reshape(-1)[cells].reshape(domain.shape)
    own_moves, place = known.moves, np.argsort(cells)
    moves = MoveSet.of(
        domain, own_moves.starts, place[own_moves.cells], own_moves.signs, margins=own_moves.margins
    )
    published = Table.dense(domain, counts)
    return replace(evidence, known=replace(known, published=published, moves=moves), alone=True)
