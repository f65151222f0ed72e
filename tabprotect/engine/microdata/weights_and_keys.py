"""Sums over records besides their number, as SQL for a cell: weights and record keys."""

from __future__ import annotations

from tabprotect.engine.errors import InputError, about
from tabprotect.engine.formats.rows.sql_text import quoted
from tabprotect.engine.microdata.coding import UNWEIGHTED, AddedUp
from tabprotect.engine.microdata.record_files import MicrodataFile
from tabprotect.engine.microdata.record_keys import key_measure
from tabprotect.engine.progress import Progress
from tabprotect.engine.tables.design_weights import SCALE
from tabprotect.engine.tables.table import INT64_MAX
from tabprotect.languages.messages import message
from tabprotect.languages.nearest import closest_match

MOST_WEIGHT = 10**9
"""The largest design weight of a record."""


def measured(
    source: MicrodataFile, also: AddedUp, progress: Progress
) -> tuple[dict[str, str], tuple[int, int]]:
    """The measures of a cell by name, and the smallest and largest design weight in millionths.

    Raises
    ------
    InputError
        For invalid weights or keys, after a check of all of them.
    """
    measures, ends = _measures(also.weight), (0, 0)
    if also.design_weight is not None:
        ends = _weight_range(source, also.design_weight, progress)
        measures["weightsum"] = f"{_design_measure(also.design_weight)} AS weightsum"
    if also.record_key is not None:
        summed, source.key_range = key_measure(source, also.record_key, progress)
        measures["keysum"] = f"{summed} AS keysum"
    return measures, ends


def weight_as_stated(source: MicrodataFile, weight: str | None, or_else: str = "") -> str | None:
    """The column of weights; it is asked where the file weights its cases and nobody says what a row counts.

    Raises
    ------
    InputError
        Naming the column of the weights, with ``or_else`` as a further remedy.
    """
    if weight == UNWEIGHTED and UNWEIGHTED not in [column.name for column in source.columns]:
        return None
    if source.weight is not None and weight is None:
        raise InputError(
            message("the file says that its cases are weighted by {weight}", repr(source.weight)),
            hint=message("each row counts so many: --weight {weight}; or once: --weight none", source.weight)
            + or_else,
        )
    return weight


def _measures(weight: str | None) -> dict[str, str]:
    """The columns of a cell: n (and, with weights, their faults)."""
    if weight is None:
        return {"n": "count(*) AS n"}
    w = f"TRY_CAST({quoted(weight)} AS DECIMAL(38, 9))"
    return {
        "n": f"sum({w}) AS n",
        "unread": f"count(*) - count({w}) AS unread",
        "least": f"min({w}) AS least",
        "example": f"any_value(coalesce(CAST({quoted(weight)} AS VARCHAR), '')) "
        f"FILTER ({w} IS NULL OR {w} < 0) AS example",
    }


def _design_weight(column: str) -> str:
    # Through concat, as for record keys: a bare cast is pushed down into the CSV reader.
    return f"TRY_CAST(concat({quoted(column)}) AS DECIMAL(28, 9))"


def _design_measure(column: str) -> str:
    """The sum of the design weights of a cell, in millionths; they have been checked before."""
    return f"CAST(sum(CAST(round({_design_weight(column)} * {SCALE}) AS BIGINT)) AS BIGINT)"


def _weight_range(source: MicrodataFile, column: str, progress: Progress) -> tuple[int, int]:
    """Check the design weights of the file; the smallest and the largest, in millionths."""
    w = _design_weight(column)
    sql = (
        f"SELECT count(*), CAST(round(min({w}) * {SCALE}) AS BIGINT), "
        f"CAST(round(max({w}) * {SCALE}) AS BIGINT), sum({w}), any_value(concat({quoted(column)})) "
        f"FILTER ({w} IS NULL OR {w} < 0 OR {w} > {MOST_WEIGHT}) FROM {source.relation}"
    )
    row = source.run(lambda c: c.execute(sql).fetchone(), message("looking at the weights"), progress)
    assert row is not None
    records, low, high, total, example = row
    if example is not None:
        raise InputError(
            message(
                "{column}: the design weight {example} is no number from 0 to 10^9", column, repr(example)
            ),
            line=line_of(source, column, example),
            hint=message("every record needs its weight, of 0 or more"),
        )
    if records and total * SCALE > INT64_MAX:
        raise InputError(message("{column}: the design weights add up to more than 9.2e12", column))
    return low or 0, high or 0


def check_known(source: MicrodataFile, name: str, keyword: str = "") -> None:
    """Refuse a variable that the records do not have, which an option may name."""
    names = [column.name for column in source.columns]
    if name not in names:
        hint = closest_match(name, names, most=3) or message("there are {names}", ", ".join(names))
        with about(keyword):
            raise InputError(message("the records have no variable {name}", repr(name)), hint=hint)


def line_of(source: MicrodataFile, column: str, value: object, *, again: int = 0) -> int | None:
    """The line of the first record with this text in a column of a CSV file, or of one ``again``."""
    if source.text is None or value is None:
        return None
    at = [c.name for c in source.columns].index(column)
    for number, row in enumerate(source.text.rows()):
        if number and row[at] == value:
            if not again:
                return source.text.line(number)
            again -= 1
    return None
