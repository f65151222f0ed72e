"""Sums of a measure from records, with what each holding contributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from math import prod
from pathlib import Path

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.formats.rows.sql import Connection
from tabprotect.engine.formats.rows.sql_text import literal, quoted
from tabprotect.engine.magnitudes.tables.contributions import Contributions
from tabprotect.engine.magnitudes.tables.magnitude_table import WHOLE, MagnitudeTable
from tabprotect.engine.microdata.coding import ONLY_COUNTED, UNWEIGHTED, Codings
from tabprotect.engine.microdata.database_engines import MARK
from tabprotect.engine.microdata.record_files import GivenRecords, MicrodataFile
from tabprotect.engine.microdata.tabulate import coded_values, counted_variable, opened_records
from tabprotect.engine.microdata.weights_and_keys import check_known, line_of, weight_as_stated
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.release.published_magnitudes import PLACES
from tabprotect.engine.release.release import EACH
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.nesting import Nesting
from tabprotect.engine.tables.table import INT64_MAX, Table
from tabprotect.engine.tables.variable import MISSING, Variable, check_totals
from tabprotect.languages.messages import joined, message

TRUE = "'1', 'true', 't', 'yes', 'y', 'x', 'ja', 'wahr'"
"""What a column of requests or waivers says yes with."""

SPELLINGS = ("refuse", "merge", "apart")
"""What becomes of holdings that differ in capitals and spaces only."""


@dataclass(frozen=True, kw_only=True)
class MeasuredColumns:
    """The columns of a magnitude table besides those that classify.

    Attributes
    ----------
    measure
        What is summed.
    holding
        Who a record belongs to; without one each record is a contributor of its own.
    weight
        How many units a record stands for.
    request, waiver
        Who asked to be protected, and who waived it: 1, yes, true or x.
    asks
        What the column of requests says yes with, if not these.
    shadow
        What rules are judged by in place of the measure.
    cost
        What hiding costs.
    unit
        What tells records apart; a value that comes twice is refused.
    spellings
        One of :data:`SPELLINGS`.
    """

    measure: str
    holding: str | None = None
    weight: str | None = None
    request: str | None = None
    waiver: str | None = None
    shadow: str | None = None
    cost: str | None = None
    unit: str | None = None
    spellings: str = "refuse"
    asks: tuple[str, ...] = ()

    @property
    def asked(self) -> dict[str, str]:
        """The columns by the options that name them."""
        names = (one.name for one in fields(self) if one.name not in ("spellings", "asks"))
        return {name: column for name in names if (column := getattr(self, name)) is not None}

    @property
    def names(self) -> list[str]:
        """The columns."""
        return list(dict.fromkeys(self.asked.values()))

    @property
    def numbers(self) -> dict[str, str]:
        """The columns that are added up, by what they are."""
        every = {"x": self.measure, "shadow": self.shadow, "cost": self.cost}
        return {what: name for what, name in every.items() if name is not None}


def tabulate_magnitudes(
    path: Path | str | GivenRecords,
    by: Sequence[str],
    columns: MeasuredColumns,
    *,
    codings: Codings | None = None,
    progress: Progress = SILENT,
) -> MagnitudeTable:
    """Sum a measure over records, wherever they are, with who contributes.

    Contributions are per holding; a parent is counted anew from them, never added up from its
    children's contributors.

    Parameters
    ----------
    by
        The variables, in the order of the table.

    Raises
    ------
    InputError
        For unknown columns, a contribution that is no number, a unit that comes twice, a holding in
        two spellings, and sums beyond 64 bits, each with its line.
    Interrupted
    """
    coding = codings or Codings()
    wanted = coding.columns(by)
    names = [*wanted, *(name for name in columns.names if name not in (*wanted, UNWEIGHTED))]
    with opened_records(path, names, ONLY_COUNTED, progress) as source:
        try:
            return _summed(source, wanted, columns, coding, progress)
        except InputError as error:
            raise (error if isinstance(path, GivenRecords) else error.in_file(source.path)) from None


def _check_columns(source: MicrodataFile, by: list[str], columns: MeasuredColumns) -> None:
    """Refuse variables that the records do not have, and more than one magnitude."""
    for name in by:
        check_known(source, name)
    several = [name.strip() for name in columns.measure.split(",")]
    if len(several) > 1 and {column.name for column in source.columns}.issuperset(several):
        raise ParameterError(
            {
                "measure": message(
                    "a table is of one magnitude, and {names} are several", joined(several, ", ")
                )
            },
            hint=EACH,
        )
    for keyword, name in columns.asked.items():
        check_known(source, name, keyword)
    if not by or columns.measure in by:
        raise InputError(
            message("no variable is chosen")
            if not by
            else message("{measure} cannot classify what it is summed by", repr(columns.measure)),
            hint=message("name the variables, and another column as the measure"),
        )


def _summed(
    source: MicrodataFile, by: list[str], columns: MeasuredColumns, codings: Codings, progress: Progress
) -> MagnitudeTable:
    columns = replace(columns, weight=weight_as_stated(source, columns.weight))
    _check_columns(source, by, columns)
    coded = coded_values(source, by, codings, progress)
    text = []
    for i, name in enumerate(by):
        value = f"coalesce(CAST({quoted(name)} AS VARCHAR), '{MISSING}')"
        if name in coded:
            found = coded[name].categories
            _run(
                source,
                f"CREATE TABLE coding{i} AS SELECT unnest($values::VARCHAR[]) AS value, "
                "unnest($categories::VARCHAR[]) AS category",
                {"values": list(found), "categories": list(found.values())},
            )
            value = f"(SELECT category FROM coding{i} WHERE value = {value})"
        text.append(f"{value} AS v{i}")
    _run(source, f"CREATE TABLE read AS SELECT {', '.join([*text, *_read(source, columns)])} "
         f"FROM {source.relation}", stage=message("reading the records"), progress=progress)  # fmt: skip
    _number_holdings(source)
    decimals = _checked(source, columns)
    _run(source, "CREATE VIEW cells AS SELECT * FROM read")
    variables = tuple(counted_variable(source, i, n, coded.get(n), codings.order) for i, n in enumerate(by))
    codes, rows = _added_up(source, variables, columns, decimals, progress)
    names = _holdings(source, len(rows["holding"]))
    domain = Domain(variables)
    key = np.ravel_multi_index(tuple(codes), domain.shape)
    table = Table.sparse(domain, *np.unique(key, return_counts=True))
    if codings.nested:
        nesting = Nesting.of(table, codings.nested)
        at = {name: codes[n] for n, name in enumerate(table.domain.names)}
        codes = np.array([at[nesting.finest[name]] for name in nesting.after.names])
        variables = nesting.after.variables
    check_totals(variables)
    return MagnitudeTable(
        variables,
        columns.measure,
        decimals,
        _contributions(codes, rows),
        names,
        weighted=columns.weight is not None,
    )


def _run(
    source: MicrodataFile, sql: str, values: object = None, *, stage: str = "", progress: Progress = SILENT
) -> list[tuple[object, ...]]:
    def work(connection: Connection) -> list[tuple[object, ...]]:
        return [tuple(row) for row in connection.execute(sql, values).fetchall()]

    return source.run(work, stage or message("reading the records"), progress)


def _number(name: str, places: int = 9) -> str:
    # Through concat: a bare cast is pushed down into the CSV reader.
    return f"TRY_CAST(concat({quoted(name)}) AS DECIMAL(38, {places}))"


def _read(source: MicrodataFile, columns: MeasuredColumns) -> list[str]:
    """The columns of a record as SQL."""
    times = quoted(MARK + "n") if source.summed else "1"
    own = "concat('(unit ', row_number() OVER (), ')')"
    holding = own
    if columns.holding is not None:
        holding = f"coalesce(nullif(trim(CAST({quoted(columns.holding)} AS VARCHAR)), ''), {own})"
    elif columns.unit is not None:
        holding = f"CAST({quoted(columns.unit)} AS VARCHAR)"
    out = [f"{holding} AS holding", f"CAST({times} AS BIGINT) AS times"]
    for what, name in columns.numbers.items():
        number = _number(name)
        # The text of what is a number is not needed.
        text = f"CASE WHEN {number} IS NULL THEN concat({quoted(name)}) END"
        out += [f"{number} AS {what}", f"{text} AS {what}_text"]
    measured = f"lower(concat({quoted(columns.measure)}))"
    out.append(f"NOT (contains({measured}, '.') OR contains({measured}, 'e')) AS x_whole")
    weight = f"{_number(columns.weight)}" if columns.weight is not None else "1"
    out.append(f"CAST({weight} AS DECIMAL(38, 9)) AS weight")
    if columns.weight is not None:
        out.append(f"concat({quoted(columns.weight)}) AS weight_text")
    asks = ", ".join(literal(one.lower()) for one in columns.asks) or TRUE
    flags = (("asked", columns.request, asks), ("waived", columns.waiver, TRUE))
    for what, flag, yes in flags:
        said = f"lower(trim(concat({quoted(flag)}))) IN ({yes})" if flag is not None else "false"
        out.append(f"{said} AS {what}")
    if columns.unit is not None:
        out.append(f"concat({quoted(columns.unit)}) AS unit")
    return out


def _checked(source: MicrodataFile, columns: MeasuredColumns) -> int:
    """Refuse records that cannot be added up; the decimals of the measure."""
    for what, name in columns.numbers.items():
        bad = _run(source, f"SELECT {what}_text FROM read WHERE {what} IS NULL LIMIT 1")
        if bad:
            raise InputError(
                message("{name}: the contribution {value} is no number", name, repr(bad[0][0])),
                line=line_of(source, name, bad[0][0]),
                hint=message("write a number, 0 for nothing, or leave the record out"),
            )
    if columns.weight is not None:
        bad = _run(
            source, "SELECT weight_text FROM read WHERE weight IS NULL OR weight < 0 OR weight > 1e9 LIMIT 1"
        )
        if bad:
            raise InputError(
                message(
                    "{name}: the weight {value} is no number from 0 to 10^9", columns.weight, repr(bad[0][0])
                ),
                line=line_of(source, columns.weight, bad[0][0]),
                hint=message("every record needs its weight, of 0 or more"),
            )
    _check_twice(source, columns)
    decimals = next((n for n in range(PLACES) if _has_places(source, n)), PLACES)
    for what, name in columns.numbers.items():
        total = _run(
            source,
            f"SELECT CAST(sum(abs(CAST({what} AS DOUBLE)) * times * CAST(weight AS DOUBLE)) AS DOUBLE), "
            f"max(abs({what})) FROM read",
        )[0]
        if total[0] is not None and float(str(total[0])) * 10**decimals > INT64_MAX:
            largest = f"TRY_CAST(concat({quoted(name)}) AS DOUBLE)"
            text = _run(
                source,
                f"SELECT concat({quoted(name)}) FROM {source.relation} "
                f"WHERE abs({largest}) >= {float(str(total[1]))} * (1 - 1e-12) LIMIT 1",
            )
            raise InputError(
                message("{name}: the sums do not fit into 64 bits", name),
                line=line_of(source, name, text[0][0]) if text else None,
                hint=message("write the measure in thousands or millions, with fewer decimals"),
            )
    return decimals


def _number_holdings(source: MicrodataFile) -> None:
    """Give every holding its number, in the order of their names."""
    _run(
        source,
        "CREATE OR REPLACE TABLE holdings AS SELECT holding, row_number() OVER (ORDER BY holding) - 1 "
        "AS code FROM (SELECT DISTINCT holding FROM read)",
    )


def _has_places(source: MicrodataFile, places: int) -> bool:
    """Return True if every value of the measure has at most so many decimals."""
    # Texts without a point are told faster than numbers are compared.
    if places == 0 and _run(source, "SELECT coalesce(bool_and(x_whole), true) FROM read")[0][0]:
        return True
    asked = f"SELECT coalesce(bool_and(x = round(x, {places})), true) FROM read"
    return bool(_run(source, asked)[0][0])


def _check_twice(source: MicrodataFile, columns: MeasuredColumns) -> None:
    """Refuse a unit that comes twice, and a holding in two spellings."""
    if columns.unit is not None:
        twice = _run(source, "SELECT unit FROM read GROUP BY 1 HAVING count(*) > 1 ORDER BY 1 LIMIT 1")
        if twice:
            raise InputError(
                message("{column}: the unit {unit} comes twice", columns.unit, repr(twice[0][0])),
                line=line_of(source, columns.unit, twice[0][0], again=1),
                hint=message("leave one of its records out, or add them up"),
            )
    if columns.spellings not in SPELLINGS:
        raise InputError(
            message("spellings are not {found}", repr(columns.spellings)),
            hint=message("choose {names}", ", ".join(SPELLINGS)),
        )
    if columns.holding is None or columns.spellings == "apart":
        return
    same = "lower(regexp_replace(holding, '\\s+', ' ', 'g'))"
    if columns.spellings == "merge":
        _run(
            source,
            f"UPDATE read SET holding = first FROM (SELECT {same} AS same, min(holding) AS first "
            f"FROM read GROUP BY 1) AS spelt WHERE spelt.same = {same}",
        )
        _number_holdings(source)
        return
    plain = "NOT bool_or(regexp_matches(holding, '\\s')) AND count(DISTINCT lower(holding)) = count(*)"
    if _run(source, f"SELECT {plain} FROM holdings")[0][0]:
        return
    found = _run(
        source,
        f"SELECT min(holding), max(holding) FROM holdings GROUP BY {same} HAVING count(*) > 1 ORDER BY 1 LIMIT 1",
    )
    if found:
        first, second = found[0]
        raise InputError(
            message(
                "{column}: {first} and {second} may be one holding",
                columns.holding,
                repr(first),
                repr(second),
            ),
            line=max(line_of(source, columns.holding, one) or 0 for one in found[0]) or None,
            hint=message("say that they are one: --spellings merge; or that they are two: --spellings apart"),
        )


def _sums(columns: MeasuredColumns, decimals: int) -> dict[str, str]:
    """SQL of what is added up of each combination, holding and weight, by column."""
    scaled = "CAST(round({} * {}) AS BIGINT) * times" if decimals else "CAST({} AS BIGINT) * times"
    own = f"sum({scaled.format('x', 10**decimals)})"
    half = WHOLE // 2
    sums = {"own": own, "units": "sum(times)"}
    if columns.request is not None:
        sums["asked"] = "bool_or(asked)"
    if columns.waiver is not None:
        sums["waived"] = "bool_and(waived)"
    if columns.weight is not None:
        sums["weighted"] = (
            f"({own} * any_value(weight) + CASE WHEN {own} < 0 THEN -{half} ELSE {half} END) // {WHOLE}"
        )
    for what in ("shadow", "cost"):
        if what in columns.numbers:
            sums[what] = f"sum({scaled.format(what, 10**decimals)})"
    return sums


def _added_up(
    source: MicrodataFile,
    variables: Sequence[Variable],
    columns: MeasuredColumns,
    decimals: int,
    progress: Progress,
) -> tuple[Ints, dict[str, Ints]]:
    """The codes of the rows by variable, and their other columns."""
    for i, variable in enumerate(variables):
        _run(
            source,
            f"CREATE TABLE codes{i} AS SELECT unnest($labels::VARCHAR[]) AS label, "
            "CAST(unnest(range($size::BIGINT)) AS INTEGER) AS code",
            {"labels": list(variable.categories), "size": len(variable.categories)},
        )
    # Texts are replaced by one number first: grouping by it takes a third of the time.
    sizes = tuple(len(variable.categories) for variable in variables)
    key = " + ".join(f"CAST(codes{i}.code AS BIGINT) * {prod(sizes[i + 1 :])}" for i in range(len(sizes)))
    joins = " ".join(f"JOIN codes{i} ON read.v{i} = codes{i}.label" for i in range(len(sizes)))
    sums = _sums(columns, decimals)
    selected = ", ".join(f"CAST({sql} AS BIGINT) AS {what}" for what, sql in sums.items())
    weight = f"CAST(round(weight * {WHOLE}) AS BIGINT)" if columns.weight else str(WHOLE)
    by = "key, holding, weight" if columns.weight else "key, holding"
    selected = selected if columns.weight else f"{WHOLE} AS weight, {selected}"
    sql = (
        f"SELECT {by}, {selected} FROM (SELECT {key} AS key, holdings.code AS holding, "
        f"read.* EXCLUDE (holding, weight), {weight} AS weight FROM read {joins} "
        f"JOIN holdings USING (holding)) GROUP BY {by} ORDER BY {by}"
    )
    found = source.run(lambda c: c.execute(sql).fetchnumpy(), message("adding up"), progress)
    rows = {name: np.asarray(found[name], dtype=np.int64) for name in ("holding", "weight", *sums)}
    return np.array(np.unravel_index(found["key"], sizes), dtype=np.int64), rows


def _holdings(source: MicrodataFile, rows: int) -> tuple[str, ...]:
    """Return what each holding is called, by number."""
    said = _run(
        source, "SELECT string_agg(replace(holding, chr(10), ' '), chr(10) ORDER BY code) FROM holdings"
    )[0][0]
    return tuple(str(said).split("\n")) if rows else ()


def _contributions(codes: Ints, rows: dict[str, Ints]) -> Contributions:
    own = rows["own"]
    none = np.zeros(len(own), dtype=np.int64)
    return Contributions(
        codes,
        rows["holding"],
        own,
        rows["weight"],
        rows.get("weighted", own),
        rows["units"],
        rows.get("asked", none).astype(bool),
        rows.get("waived", none).astype(bool),
        rows.get("shadow", own),
        rows.get("cost", own),
    )
