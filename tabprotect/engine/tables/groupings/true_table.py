"""True counts of a published table: margins, with categories merged into groups where it has them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tabprotect.engine.errors import InputError
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.grouping import Grouping, declared
from tabprotect.engine.tables.table import Table
from tabprotect.languages.said import say


def true_table(table: Table, domain: Domain, groupings: Sequence[Grouping] = ()) -> Table:
    """The sums of a table over another domain, whose variables are its own or groupings of them.

    Raises
    ------
    InputError
        For a variable that is neither.
    """
    if domain == table.domain:
        return table
    by_name = {grouping.name: grouping for grouping in (*declared(table.domain), *groupings)}
    keys, values = table.cells
    out = np.zeros(len(keys), dtype=np.int64)
    for variable in domain.variables:
        # The table may itself be one over groups.
        own = variable.name in table.domain.names
        grouping = None if own else by_name.get(variable.name)
        source = variable.name if grouping is None else grouping.of
        axis = table.domain.axis(source)
        stride = 1
        for size in table.domain.shape[axis + 1 :]:
            stride *= size
        codes = (keys // stride) % table.domain.shape[axis]
        if grouping is not None:
            codes = grouping.codes[codes]
        elif len(variable.categories) != table.domain.shape[axis]:
            raise InputError(
                say("the categories of {name} are others in this table", repr(variable.name))
            )
        out = out * len(variable.categories) + codes
    sparse = Table.sparse(domain, out, values)
    return sparse if table.is_sparse else Table.dense(domain, sparse.counts)
