"""Magnitude tables in Parquet files of their own: a row for each contribution. CONFIDENTIAL."""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.atomic import replacing
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.rows.sql import Connection, QueryError, connected
from tabprotect.engine.formats.rows.sql_text import file_literal, literal
from tabprotect.engine.magnitudes.files.sniffing import KEY, is_magnitudes
from tabprotect.engine.magnitudes.tables.contributions import Contributions
from tabprotect.engine.magnitudes.tables.largest_only import LargestOnly
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.paths import is_file
from tabprotect.engine.plain_values.decoding import Between, decoded, parsed_json
from tabprotect.engine.release.published_magnitudes import PLACES
from tabprotect.engine.tables.variable import Variable
from tabprotect.languages.messages import message

COLUMNS = ("holding_number", "own", "weight", "weighted", "units", "asked", "waived", "shadow", "cost")


@dataclass(frozen=True)
class StatedCells:
    """Cells whose largest contributions are named only: keys, numbers of contributors, contributions."""

    key: tuple[int, ...]
    n: tuple[int, ...]
    top: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, largest: LargestOnly) -> StatedCells:
        """Make one from the arrays."""
        top = tuple(map(tuple, largest.top.tolist()))
        return cls(tuple(largest.key.tolist()), tuple(largest.n.tolist()), top)

    @property
    def arrays(self) -> LargestOnly:
        """Return it as arrays."""
        columns = (np.array(one, dtype=np.int64) for one in (self.key, self.n, self.top))
        return LargestOnly(*columns)


@dataclass(frozen=True)
class Head:
    """The metadata of a file: the variables by column, and what the measure is."""

    variables: tuple[Variable, ...]
    measure: str
    decimals: Annotated[int, Between(0, PLACES)]
    weighted: bool
    shadow: bool
    cost: bool
    given: str = ""
    largest: StatedCells | None = None


def write_magnitudes(table: MagnitudeTable, path: Path) -> None:
    """Write a magnitude table, whole or not at all.

    Raises
    ------
    InputError
        When it cannot be written there.
    """
    # Late: DuckDB costs a tenth of the program's start.
    import duckdb

    rows = table.rows
    head = Head(
        table.variables,
        table.measure,
        table.decimals,
        table.weighted,
        rows.shadow is not rows.own,
        rows.cost is not rows.own,
        table.given,
        None if table.largest is None else StatedCells.of(table.largest),
    )
    columns: dict[str, np.ndarray] = {f"v{n}": code for n, code in enumerate(rows.codes)}
    values = (rows.holding, rows.own, rows.weight, rows.weighted, rows.units)
    more = (rows.asked, rows.waived, rows.shadow, rows.cost)
    columns |= dict(zip(COLUMNS, (*values, *more), strict=True))
    said = literal(json.dumps(asdict(head), ensure_ascii=False))
    with tempfile.TemporaryDirectory() as folder, duckdb.connect(":memory:") as connection:
        made = Path(folder) / "table.parquet"
        connection.register("contributions", columns)
        names = table.names
        if "\n".join(names).count("\n") >= max(len(names), 1):
            names = [name.replace("\n", " ") for name in names]
        named = np.array(names, dtype=object)
        connection.register("names", {"holding": named, "holding_number": np.arange(len(named))})
        order = ", ".join(columns)
        connection.execute(
            f"COPY (SELECT {order}, holding FROM contributions JOIN names USING (holding_number)) TO {literal(str(made))} "
            f'(FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, KV_METADATA {{"{KEY}": {said}}})'
        )
        with replacing(path, private=True) as file, made.open("rb") as whole:
            shutil.copyfileobj(whole, file)


def read_magnitudes(path: Path) -> MagnitudeTable:
    """Open a magnitude table.

    Raises
    ------
    InputError
        When there is no such file, or it is something else.
    """
    if not is_file(path):
        raise InputError(message("there is no such file"), file=path)
    if not is_magnitudes(path):
        raise InputError(
            message("this is no magnitude table"),
            file=path,
            hint=message(
                "make one with: tabprotect tabulate RECORDS --by .. --measure .. --out {name}", path.name
            ),
        )
    with connected(path, ordered=True) as connection:
        try:
            return _read(path, connection)
        except (QueryError, KeyError, ValueError) as error:
            raise InputError(
                message("the magnitude table is damaged, or was cut off"),
                file=path,
                hint=message("make it again from the records"),
                detail=str(error).partition("\n")[0],
            ) from None


def _read(path: Path, connection: Connection) -> MagnitudeTable:
    file = file_literal(path)
    stated = connection.execute(f"SELECT hex(key), hex(value) FROM parquet_kv_metadata({file})")
    found = {bytes.fromhex(key): bytes.fromhex(value) for key, value in stated.fetchall()}
    head = decoded(parsed_json(found[KEY.encode()]), Head)
    wanted = [*(f"v{n}" for n in range(len(head.variables))), *COLUMNS]
    casts = ", ".join(f"CAST({name} AS BIGINT) AS {name}" for name in wanted)
    read = connection.execute(f"SELECT {casts} FROM read_parquet({file})").fetchnumpy()
    columns = {name: np.asarray(read[name], dtype=np.int64) for name in wanted}
    names = connection.execute(
        "SELECT string_agg(name, chr(10) ORDER BY holding_number) FROM (SELECT holding_number, "
        f"any_value(replace(holding, chr(10), ' ')) AS name FROM read_parquet({file}) GROUP BY 1)"
    ).fetchone()
    codes = np.array([columns[f"v{n}"] for n in range(len(head.variables))])
    _check(head, codes, columns["holding_number"])
    own = columns["own"]
    rows = Contributions(
        codes,
        columns["holding_number"],
        own,
        columns["weight"],
        columns["weighted"] if head.weighted else own,
        columns["units"],
        columns["asked"].astype(bool),
        columns["waived"].astype(bool),
        columns["shadow"] if head.shadow else own,
        columns["cost"] if head.cost else own,
    )
    said = tuple(str(names[0]).split("\n")) if names is not None and len(own) else ()
    table = MagnitudeTable(head.variables, head.measure, head.decimals, rows, said, weighted=head.weighted)
    largest = None if head.largest is None else head.largest.arrays
    if largest is not None and not np.array_equal(largest.key, table.cells.key):
        raise ValueError("largest")
    return replace(table, largest=largest, given=head.given)


def _check(head: Head, codes: Ints, holding: Ints) -> None:
    """Refuse codes of categories that there are not."""
    for variable, code in zip(head.variables, codes, strict=True):
        if len(code) and not 0 <= int(code.min()) <= int(code.max()) < len(variable.categories):
            raise ValueError(variable.name)
    if len(holding) and int(holding.min()) < 0:
        raise ValueError("holding")
