"""The same contributions by other variables: contributors are counted anew, never added up."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.magnitudes.tables.contributions import Contributions
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.tables.variable import Variable, check_totals
from tabprotect.languages.messages import message


def by_others(table: MagnitudeTable, variables: tuple[Variable, ...], codes: Ints) -> MagnitudeTable:
    """A magnitude table by other variables.

    Parameters
    ----------
    codes : int64 (variables, rows)
        The category of each row of contributions; those with a negative one are left out.

    Raises
    ------
    InputError
        For a category that is called as the total is, and for a table that names the largest
        contributions only.
    """
    check_totals(variables)
    if table.largest is not None and not np.array_equal(codes, table.rows.codes):
        raise InputError(
            message("the table names the largest contributions of each sum only"),
            hint=message("group the records, and tabulate them again"),
        )
    rows, inside = table.rows, (codes >= 0).all(axis=0)
    if inside.all():
        return replace(table, variables=variables, rows=replace(rows, codes=codes))
    # What is one column stays one.
    left: dict[int, Ints | Bools] = {}
    parts = [
        left.setdefault(id(column), column[inside])
        for column in (getattr(rows, field.name) for field in fields(rows)[1:])
    ]
    rows = Contributions(codes[:, inside], *parts)  # type: ignore[arg-type]
    return replace(table, variables=variables, rows=rows)
