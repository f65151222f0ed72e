"""Sets of margins, and whether two tables agree on them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np

from tabprotect.engine.errors import InputError
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.messages import message

MarginSet = tuple[tuple[str, ...], ...]
"""Maximal margins by names of variables or of their levels, each in the table's order; lower ones follow from them."""


def margins_of_order(domain: Domain, order: int) -> MarginSet:
    """All margins over ``order`` variables."""
    if not 0 <= order < domain.ndim:
        raise InputError(
            message("margins over {order} variables of a {ndim}-way table", order, domain.ndim),
            hint=message("take 0 to {ndim}", domain.ndim - 1),
        )
    return tuple(combinations(domain.names, order))


def all_margins(domain: Domain) -> MarginSet:
    """All (k-1)-way margins: with them every margin short of the table itself is kept."""
    return margins_of_order(domain, domain.ndim - 1)


def maximal_margins(domain: Domain, margins: Iterable[Sequence[str]]) -> MarginSet:
    """The given margins without those implied by others, in a canonical order."""
    tidy = {domain.tidy(margin) for margin in margins}
    keep = [m for m in tidy if not any(m != o and all(domain.tells(o, n) for n in m) for o in tidy)]
    return tuple(sorted(keep, key=lambda margin: list(map(domain.order, margin))))


def dimension(domain: Domain, margins: MarginSet) -> int:
    """Number of independent moves that keep the margins (of the whole lattice).

    Cells minus the rank of the margins; the rank of a hierarchical set is the sum over all its
    variable sets S (downward closed) of ``prod(size_i - 1 for i in S)``.
    """
    closed = {
        subset for margin in margins for r in range(len(margin) + 1) for subset in combinations(margin, r)
    }
    sizes = dict(zip(domain.names, domain.shape, strict=True))
    rank = sum(int(np.prod([sizes[n] - 1 for n in s], dtype=object)) for s in closed)
    return domain.size - rank
