"""Counting records by some of their variables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.budgets import MAX_CATEGORIES
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.formats.layouts.cell_list import check_categories
from tabprotect.engine.formats.rows.sql import Connection
from tabprotect.engine.formats.rows.sql_text import quoted
from tabprotect.engine.microdata.coding import ONLY_COUNTED, AddedUp, Coded, Codings, in_their_tree
from tabprotect.engine.microdata.places import is_cluster, split_cluster
from tabprotect.engine.microdata.record_files import GivenRecords, MicrodataFile, open_microdata
from tabprotect.engine.microdata.weights_and_keys import check_known, line_of, measured, weight_as_stated
from tabprotect.engine.paths import is_url
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.randomness import KEY_MODULUS
from tabprotect.engine.tables.category_order import in_order
from tabprotect.engine.tables.design_weights import DesignWeights
from tabprotect.engine.tables.domain import DOMAIN_CELLS, Domain
from tabprotect.engine.tables.groupings.nesting import Nesting
from tabprotect.engine.tables.groupings.unlisted_codes import UnlistedError
from tabprotect.engine.tables.table import INT64_MAX, Table, better_sparse
from tabprotect.engine.tables.variable import MISSING, Variable
from tabprotect.engine.tables.wide_table import WideTable
from tabprotect.languages.messages import message

EXACT_SUMMARY = 2000
EXACT_RECORDS = 1_000_000
"""Up to this many records every column is counted exactly."""


@dataclass(frozen=True)
class ColumnSummary:
    """A column, summarised for the dialog that chooses variables.

    ``categories`` is ``exact`` up to about 2000, and for at most a million records; otherwise it is an
    estimate in two figures. Missing values do not count as a category.
    ``kind`` is also "integer" or "real" if a text column holds only such numbers.
    """

    name: str
    kind: str
    categories: int
    missing: int
    exact: bool = True
    records: int = 0
    """The number of records, including those with a missing value in this column."""


def columns(path: Path | str, *, progress: Progress = SILENT) -> tuple[ColumnSummary, ...]:
    """The columns of a microdata file, in two passes over it.

    Raises
    ------
    InputError, Interrupted
    """
    if is_cluster(str(path)):
        # The files are visible from here too.
        path = split_cluster(str(path))[1]
    elif is_url(str(path)):
        # Imported late: it needs an extra.
        from tabprotect.engine.microdata.database_engines import engine_columns

        return tuple(ColumnSummary(*found) for found in engine_columns(str(path), progress))
    with open_microdata(path, progress) as source:
        return tuple(_summaries(source, progress))


def _summaries(source: MicrodataFile, progress: Progress) -> Iterator[ColumnSummary]:
    def ask(parts: Sequence[str]) -> list[int]:
        row = source.run(
            lambda c: c.execute(f"SELECT {', '.join(parts)} FROM {source.relation}").fetchone(),
            message("looking at the variables"),
            progress,
        )
        return list(row or ())

    names = [quoted(column.name) for column in source.columns]
    # A CSV file does not state which of its columns are numbers.
    first = ask(
        [
            f"approx_count_distinct({n}), count(*) - count({n}), "
            f"CASE WHEN bool_and(regexp_full_match(CAST({n} AS VARCHAR), '-?[0-9]+')) THEN 2 "
            f"WHEN bool_and(TRY_CAST(CAST({n} AS VARCHAR) AS DOUBLE) IS NOT NULL) "
            f"FILTER ({n} IS NOT NULL) THEN 1 ELSE 0 END"
            for n in names
        ]
        + ["count(*)"]
    )
    rows = first.pop()
    found = dict(zip(names, first[::3], strict=True))
    # Exact counts cost memory in proportion to what they count.
    few = rows <= EXACT_RECORDS
    small = [name for name in names if few or found[name] <= EXACT_SUMMARY]
    if small:
        exact = ask([f"count(DISTINCT {name})" for name in small])
        found.update(zip(small, exact, strict=True))
    for column, name, missing, written in zip(source.columns, names, first[1::3], first[2::3], strict=True):
        categories = found[name]
        if name not in small:
            # The estimate is good to a few per cent: more figures would be false precision.
            step = 10 ** (len(str(categories)) - 2)
            categories = min(round(categories / step) * step, rows)
        kind = ("text", "real", "integer")[written] if column.kind == "text" else column.kind
        yield ColumnSummary(column.name, kind, categories, missing, name in small, rows)


@dataclass(frozen=True)
class Tabulated:
    """Counts of records with the sums of their other columns. Confidential.

    Attributes
    ----------
    table
    record_keys
        The sum of the record keys of each cell, modulo their range.
    key_range
        Record keys, and their sums, are whole numbers below it.
    weights
        The sums of the design weights.
    """

    table: Table
    record_keys: Table | None = None
    weights: DesignWeights | None = None
    key_range: int = KEY_MODULUS

    def nested(self, names: Mapping[str, Sequence[str]]) -> Tabulated:
        """Turn nested columns into the levels of one variable each."""
        if not names:
            return self
        nesting = Nesting.of(self.table, names)
        keys, weights = self.record_keys, self.weights
        return Tabulated(
            nesting.nested(self.table),
            None if keys is None else nesting.nested(keys),
            None if weights is None else replace(weights, sums=nesting.nested(weights.sums)),
            self.key_range,
        )


def tabulate(
    path: Path | str, by: Sequence[str], *, weight: str | None = None, progress: Progress = SILENT
) -> Table:
    """The counts alone (see :func:`tabulate_with_keys`)."""
    return tabulate_with_keys(path, by, also=AddedUp(weight), progress=progress).table


def tabulate_with_keys(
    path: Path | str | GivenRecords,
    by: Sequence[str],
    *,
    also: AddedUp = ONLY_COUNTED,
    codings: Codings | None = None,
    wide: bool = False,
    progress: Progress = SILENT,
) -> Tabulated:
    """Count records, wherever they are, by some variables (see :func:`.record_files.open_microdata`).

    Values are opaque text. Categories that a file declares are there with and without a record, in its
    order; others are sorted, as numbers if all of them are whole numbers. ``(missing)`` comes last. The table is sparse if it is large and mostly empty.

    Parameters
    ----------
    by
        The variables, in the order of the table's axes; coded variables need not be named, and
        then come last.
    also
        The columns that are added up.
    codings
        Bands, code lists and nested columns. Categories are in the order of the bands or of the
        code list.
    wide
        True to allow a table with more than 2^62 possible cells.

    Raises
    ------
    InputError
        For an unknown or repeated variable, a value without a category in a coding (with the line
        of the first such record), weights that give no counts, invalid keys, no records, or a
        damaged file.
    Interrupted
        Within about a tenth of a second of being cancelled.
    """
    coding = codings or Codings()
    columns = coding.columns(by)
    with opened_records(path, columns, also, progress) as source:
        try:
            found = _tabulate(source, columns, also, coding, progress, wide=wide)
            return found.nested(coding.nested)
        except InputError as error:
            raise (error if isinstance(path, GivenRecords) else error.in_file(source.path)) from None


@contextmanager
def opened_records(
    path: Path | str | GivenRecords, by: list[str], also: AddedUp, progress: Progress
) -> Iterator[MicrodataFile]:
    if isinstance(path, GivenRecords) or not is_url(str(path)):
        with open_microdata(path, progress) as source:
            yield source
        return
    if not by:
        raise InputError(
            message("no variable is chosen"), hint=message("name at least one variable to count by")
        )
    # Imported late: they need extras.
    if is_cluster(str(path)):
        from tabprotect.engine.microdata.clusters import grouped_files as grouped
    else:
        from tabprotect.engine.microdata.database_engines import grouped_records as grouped
    with grouped(str(path), by, also, progress) as source:
        yield source


def _tabulate(
    source: MicrodataFile, by: list[str], also: AddedUp, codings: Codings, progress: Progress, *, wide: bool
) -> Tabulated:
    or_beside = message(
        "; or once, with the weights kept beside: --design-weight {weight}", weight=source.weight
    )
    stated = (
        also.weight if also.design_weight is not None else weight_as_stated(source, also.weight, or_beside)
    )
    also = replace(also, weight=stated)
    check_columns(source, by, also)
    low, high = source.weights
    measures = dict(source.summed)
    if not measures:
        measures, (low, high) = measured(source, also, progress)
    coded = coded_values(source, by, codings, progress)
    source.run(lambda c: _group(c, source, by, measures, coded), message("counting the records"), progress)
    if also.weight is not None:
        _check_weights(source, by, also.weight, progress)
    progress.report(message("sorting the categories"), 0.9)
    variables = tuple(
        counted_variable(source, v, name, coded.get(name), codings.order) for v, name in enumerate(by)
    )
    if wide and math.prod(len(v.categories) for v in variables) > DOMAIN_CELLS:
        domain = Domain(variables, wide=True)
        wide_tables = []
        for measure in ("n", "keysum") if also.record_key is not None else ("n",):
            *codes, counts = source.run(
                lambda c, m=measure: _measures_at(  # type: ignore[misc]
                    c, domain, [f"codes{i}.code" for i in range(domain.ndim)], m
                ),
                message("building the table"),
                progress,
            )
            counts = counts % source.key_range if measure == "keysum" else counts
            wide_tables.append(WideTable.of(domain, codes, counts))
        sums_of_keys = wide_tables[1] if also.record_key is not None else None
        return Tabulated(wide_tables[0], sums_of_keys, key_range=source.key_range)
    domain = Domain(variables)
    sparse = False
    tables: dict[str, Table] = {}
    beside = {"keysum": also.record_key, "weightsum": also.design_weight}
    for measure in ("n", *(name for name, column in beside.items() if column is not None)):
        keys, counts = source.run(
            lambda c, m=measure: _keyed(c, domain, m),  # type: ignore[misc]
            message("building the table"),
            progress,
        )
        if not tables:
            sparse = better_sparse(domain, len(keys))
        counts = counts % source.key_range if measure == "keysum" else counts
        tables[measure] = _laid_out(domain, keys, counts, sparse=sparse)
    sums = tables.get("weightsum")
    weights = None if sums is None else DesignWeights(sums, low, high)
    return Tabulated(tables["n"], tables.get("keysum"), weights, source.key_range)


def check_columns(source: MicrodataFile, by: list[str], also: AddedUp) -> None:
    """Refuse columns that are not there, or do not go together."""
    if not by:
        raise InputError(
            message("no variable is chosen"), hint=message("name at least one variable to count by")
        )
    for name in by:
        check_known(source, name)
    for keyword, column in vars(also).items():
        if column is not None:
            check_known(source, column, keyword)
    chosen = [*by, *also.names]
    if len(set(chosen)) < len(chosen):
        raise InputError(message("a variable is named twice"), hint=message("name each variable once"))
    if also.weight is not None and also.record_key is not None:
        raise ParameterError(
            {"record_key": message("goes with counts of records, not with sums of weights")},
            hint=message("leave out the weights"),
        )
    if also.weight is not None and also.design_weight is not None:
        raise ParameterError(
            {"design_weight": message("stands beside counts of records, not beside sums of other weights")},
            hint=message("name one column of weights: weight adds it up as counts, design weight keeps it"),
        )


def _laid_out(domain: Domain, keys: Ints, counts: Ints, *, sparse: bool) -> Table:
    if sparse:
        return Table.sparse(domain, keys, counts)
    laid_out = np.zeros(domain.size, dtype=np.int64)
    laid_out[keys] = counts
    return Table.dense(domain, laid_out.reshape(domain.shape))


_JOINED = {
    "n": "CAST(sum({}) AS DECIMAL(38, 9))",
    "unread": "sum({})",
    "least": "min({})",
    "example": "any_value({})",
    "weightsum": "sum({})",
    "keysum": "sum({})",
}
"""The aggregates that combine the measures of groups with the same text into those of a cell."""


def _group(
    connection: Connection,
    source: MicrodataFile,
    by: list[str],
    measures: Mapping[str, str],
    coded: Mapping[str, Coded],
) -> None:
    """Create the table ``cells`` with v0, v1, ... and the measures.

    Records are grouped by their columns as they are; the few groups are then turned into text and
    joined with the categories of coded variables, and groups with the same categories are one cell.
    """
    raw = ", ".join(f"{quoted(name)} AS v{i}" for i, name in enumerate(by))
    grouped = f"SELECT {raw}, {', '.join(measures.values())} FROM {source.relation} GROUP BY ALL"
    text, joins = [], []
    for i, name in enumerate(by):
        value = f"coalesce(CAST(v{i} AS VARCHAR), '{MISSING}')"
        text.append(f"{value} AS v{i}" if name not in coded else f"coding{i}.category AS v{i}")
        if name in coded:
            connection.execute(
                f"CREATE TABLE coding{i} AS SELECT unnest($values::VARCHAR[]) AS value, "
                "unnest($categories::VARCHAR[]) AS category",
                {"values": list(coded[name].categories), "categories": list(coded[name].categories.values())},
            )
            joins.append(f"JOIN coding{i} ON {value} = coding{i}.value")
    joined = ", ".join(_JOINED[name].format(name) + f" AS {name}" for name in measures)
    connection.execute(
        f"CREATE TABLE cells AS SELECT {', '.join(text)}, {joined} FROM ({grouped}) "
        f"{' '.join(joins)} GROUP BY ALL"
    )


def coded_values(
    source: MicrodataFile, by: Sequence[str], codings: Codings, progress: Progress
) -> dict[str, Coded]:
    """The coded values of the coded variables, and of those that have a tree in the file's description."""
    out = {}
    trees = [name for name in by if name in source.trees and name not in codings.variables]
    for name in (*codings.variables, *trees):
        check_known(source, name)
        text = f"coalesce(CAST({quoted(name)} AS VARCHAR), '{MISSING}')"
        rows = source.run(
            lambda c, t=text: c.execute(  # type: ignore[misc]
                f"SELECT DISTINCT {t} FROM {source.relation} LIMIT {MAX_CATEGORIES + 1}"
            ).fetchall(),
            message("looking at the values"),
            progress,
        )
        check_categories(name, len(rows))

        def fault(value: str, name: str = name) -> InputError:
            return InputError(
                message("{name}: {value} is no whole number and falls into no band", name, repr(value)),
                line=line_of(source, name, value),
                cell=message("({name}: {value})", name, value),
                hint=message("mend the value, or leave it empty"),
            )

        try:
            values = in_order([row[0] for row in rows])
            tree = source.trees[name](values) if name in trees else {}
            if tree or name not in trees:
                coded = in_their_tree(name, values, tree, source.path) if tree else None
                out[name] = coded or codings.coded(name, values, fault)
        except UnlistedError as error:
            error.line = line_of(source, name, error.codes[0])
            raise error
    return out


def _check_weights(source: MicrodataFile, by: list[str], weight: str, progress: Progress) -> None:
    labels = ", ".join(f"v{i}" for i in range(len(by)))

    def first(condition: str) -> tuple[object, ...] | None:
        sql = f"SELECT n, example, {labels} FROM cells WHERE {condition} ORDER BY ALL LIMIT 1"
        found = source.run(lambda c: c.execute(sql).fetchone(), message("checking the weights"), progress)
        return None if found is None else tuple(found)

    for condition, why, hint in (
        ("unread > 0", "the weight {1!r} is not a number", message("every record needs its weight")),
        ("least < 0", "the weight {1} is negative", message("weights are 0 or more")),
        (f"n > {INT64_MAX}", message("the weights add up to more than 9.2e18"), message("check the weights")),
        (
            "n <> floor(n)",
            "the weights of a cell add up to {0}, not to a whole number",
            message("round the weights (or the cells) to whole numbers first, or count without weights"),
        ),
    ):
        row = first(condition)
        if row is not None:
            text = f"{row[0]:f}".rstrip("0") if row[0] is not None else ""
            raise InputError(
                message("{weight}: {text}", weight, why.format(text, row[1])),
                cell=f"({', '.join(map(str, row[2:]))})",
                line=line_of(source, weight, row[1]),
                hint=hint,
            )


def counted_variable(
    source: MicrodataFile, variable: int, name: str, coded: Coded | None, order: str | None
) -> Variable:
    """A variable with the categories that its file declares, and those of records beside them.

    Parameters
    ----------
    order
        As in :class:`.Codings`.
    """
    rows = source.run(
        lambda c: c.execute(f"SELECT DISTINCT v{variable} FROM cells LIMIT {MAX_CATEGORIES + 1}").fetchall(),
        message("sorting the categories"),
    )
    if not rows:
        raise InputError(
            message("there are no records"),
            hint=message("there are names of columns, and nothing below them"),
        )
    check_categories(name, len(rows))
    if coded is not None:
        return coded.variable(name, order)
    there = [row[0] for row in rows]
    declared = source.declared.get(name, {})
    if order == "file" and not declared:
        return Variable(name, tuple(_as_they_come(source, name)))
    others = in_order([category for category in there if category not in declared])
    known = [*(category for category in declared if category != MISSING), *others]
    check_categories(name, len(known))
    if order in ("name", "code"):
        known = in_order(known, declared if order == "code" else None)
    return Variable(name, tuple(known))


def _as_they_come(source: MicrodataFile, name: str) -> list[str]:
    """The categories of a column in order of first appearance; ``(missing)`` last."""
    if source.summed:
        raise ParameterError(
            {"order": message("the records have no order where they are counted")},
            hint=message("leave the option out; or sort them: --order name"),
        )
    value = f"coalesce(CAST({quoted(name)} AS VARCHAR), '{MISSING}')"
    sql = (
        f"SELECT {value} AS v, min(r) FROM (SELECT {quoted(name)}, row_number() OVER () AS r "
        f"FROM {source.relation}) GROUP BY 1 ORDER BY 2"
    )
    rows = source.run(lambda c: c.execute(sql).fetchall(), message("sorting the categories"))
    found = [row[0] for row in rows]
    return [v for v in found if v != MISSING] + [MISSING] * (MISSING in found)


def _keyed(connection: Connection, domain: Domain, measure: str) -> tuple[Ints, Ints]:
    """Mixed-radix keys of the cells and one of their measures."""
    terms, stride = [], domain.size
    for i, size in enumerate(domain.shape):
        stride //= size
        terms.append(f"codes{i}.code * {stride}")
    key, counts = _measures_at(connection, domain, [" + ".join(terms)], measure)
    return key, counts


def _measures_at(connection: Connection, domain: Domain, wanted: Sequence[str], measure: str) -> list[Ints]:
    """Columns (cells,) computed from the numbers ``codes0.code``, ..., and a measure."""
    joins = []
    for i, variable in enumerate(domain.variables):
        connection.execute(
            f"CREATE OR REPLACE TABLE codes{i} AS SELECT unnest($labels::VARCHAR[]) AS label, "
            "unnest(range($size::BIGINT)) AS code",
            {"labels": list(variable.categories), "size": len(variable.categories)},
        )
        joins.append(f"JOIN codes{i} ON cells.v{i} = codes{i}.label")
    columns = [*wanted, f"CAST({measure} AS BIGINT)"]
    said = ", ".join(f"{column} AS c{number}" for number, column in enumerate(columns))
    found = connection.execute(f"SELECT {said} FROM cells {' '.join(joins)}").fetchnumpy()
    return [np.asarray(found[f"c{number}"], dtype=np.int64) for number in range(len(columns))]
