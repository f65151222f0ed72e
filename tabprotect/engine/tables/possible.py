"""Which combinations of categories there are, where structural zeros join variables.

Statements that share a variable are looked at together; what they join is possible or not whatever
the other variables are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.budgets import DENSE_LIMIT
from tabprotect.engine.errors import TooLargeError
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.messages import message


@dataclass(frozen=True, eq=False)
class Possible:
    """The possible combinations of some variables of a table.

    Attributes
    ----------
    domain
        Of these variables alone.
    mask : bool (combinations,)
    """

    domain: Domain
    mask: Bools

    def shared(self, names: Sequence[str]) -> Bools:
        """Return which combinations share what some names tell with another one that is possible."""
        groups = keys_by(self.domain, names, np.arange(self.domain.size, dtype=np.int64))
        _, group = np.unique(groups, return_inverse=True)
        group = group.reshape(-1)
        return np.asarray(np.bincount(group, weights=self.mask)[group] > 1)


def joined_variables(domain: Domain) -> list[frozenset[str]]:
    """The sets of variables that structural zeros join."""
    groups: list[frozenset[str]] = []
    for zero in domain.structural:
        names = frozenset(name for name, _ in zero.where)
        near = [group for group in groups if group & names]
        groups = [*(group for group in groups if not group & names), names.union(*near)]
    return groups


def possible(domain: Domain) -> list[Possible]:
    """Every set of variables that structural zeros join, with the combinations there are.

    Raises
    ------
    TooLargeError
        Where they join too many combinations to be listed.
    """
    found = []
    for group in joined_variables(domain):
        own = Domain(
            tuple(v for v in domain.variables if v.name in group),
            tuple(zero for zero in domain.structural if zero.where[0][0] in group),
        )
        if own.size > DENSE_LIMIT:
            raise TooLargeError(
                message("structural zeros join {size:,} combinations of categories: too many", own.size),
                hint=message("state them of fewer variables together"),
            )
        found.append(Possible(own, ~own.structural_cells()))
    return found


def codes_by(domain: Domain, name: str, keys: Ints) -> Ints:
    """The category of a variable or of a level of it, by number, at flat cells (m,)."""
    axis, level = domain.place(name)
    stride = int(np.prod(domain.shape[axis + 1 :], dtype=object))
    codes = (keys // stride) % domain.shape[axis]
    return codes if level is None else level.codes[codes]


def keys_by(domain: Domain, names: Sequence[str], keys: Ints) -> Ints:
    """Flat cells (m,) by some variables or levels: mixed-radix keys in the order of the names."""
    out = np.zeros(len(keys), dtype=np.int64)
    for name in names:
        out = out * len(domain[name].categories) + codes_by(domain, name, keys)
    return out
