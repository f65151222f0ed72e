"""The order of categories: as a file declares them, by their names, or by their codes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tabprotect.languages.messages import message

if TYPE_CHECKING:
    from tabprotect.engine.tables.table import Table

ORDERS = {
    "file": message("As in the file"),
    "name": message("By their names"),
    "code": message("By their codes"),
}
"""Orders that a person may ask for."""

ORDER_HELP = message("file: as the file has them; name: by their names; code: by their codes")

_WHOLE = re.compile("-?[0-9]{1,300}")


def in_order(categories: Sequence[str], by: Mapping[str, str] | None = None) -> list[str]:
    """Sort categories by their names, or by what stands for them; ``(missing)`` comes last.

    As numbers if all are whole numbers, else as texts.
    """
    from tabprotect.engine.tables.variable import MISSING

    word = (by or {}).get
    present = [(word(category, category), category) for category in categories if category != MISSING]
    if all(_WHOLE.fullmatch(text) for text, _ in present):
        present.sort(key=lambda pair: (int(pair[0]), pair))
    else:
        present.sort()
    return [category for _, category in present] + [MISSING] * (len(present) < len(categories))


def reordered(table: Table, order: str | None, *, but: bool = False) -> Table:
    """The table with the categories of all variables by their names (labels, where they are codes) or codes.

    Parameters
    ----------
    order
        One of :data:`ORDERS`; the table stays as it is for ``file`` and for ``None``.
    but
        True if its categories are labels that stand in the order of their codes already.
    """
    if order not in ("name", "code") or (order == "code" and but):
        return table
    # Late: options name the orders before anything is computed.
    import numpy as np

    from tabprotect.engine.tables.table import Table

    for name in table.domain.names:
        variable = table.domain[name]
        labels = dict(zip(variable.categories, variable.labels, strict=False)) if order == "name" else None
        wanted = in_order(variable.categories, labels)
        codes = [variable.code(category) for category in wanted]
        if codes == sorted(codes):
            continue
        parts = [[code] for code in codes]
        domain = table.domain.with_variable(variable.made_of(wanted, parts), parts=parts)
        axis = domain.axis(name)
        if not table.is_sparse:
            table = Table.dense(domain, np.take(table.counts, codes, axis=axis))
            continue
        keys, counts = table.cells
        at = list(np.unravel_index(keys, domain.shape))
        at[axis] = np.argsort(codes)[at[axis]]
        table = Table.sparse(domain, np.ravel_multi_index(at, domain.shape), counts)
    return table
