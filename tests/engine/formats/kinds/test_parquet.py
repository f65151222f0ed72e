"""Parquet as a table: categories, counts and faults of typed columns."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tabprotect as tp
from tabprotect.engine.errors import InputError, RecordsError
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.table_reading import TableFile, read_table


def put(path: Path, sql: str, options: str = "") -> Path:
    with duckdb.connect(":memory:") as connection:
        connection.execute(f"COPY ({sql}) TO '{path}' (FORMAT parquet {options})")
    return path


def read(tmp_path: Path, values: str, names: str = "v, w, count", **options: object) -> TableFile:
    path = put(tmp_path / "t.parquet", f"SELECT * FROM (VALUES {values}) AS t({names})")
    return read_table(path, Reading.of(options))


def test_categories_are_text_in_order_of_appearance(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "('b', 2020.0::DOUBLE, DATE '2024-02-01', 1::BIGINT), ('a', 2019, DATE '2023-01-01', 2), "
        "('01', 2019.5, DATE '2023-01-01', 3)",
        "v, year, day, count",
        fill_missing=True,
        variable="year",
    ).table
    assert found.domain["v"].categories == ("b", "a", "01")
    assert found.domain["year"].categories == ("2020", "2019", "2019.5")
    assert found.domain["day"].categories == ("2024-02-01", "2023-01-01")
    assert found[(1, 1, 1)] == 2


def test_a_rollup_with_nulls_has_its_totals_found(tmp_path: Path) -> None:
    path = put(
        tmp_path / "t.parquet",
        "SELECT v, sum(n) AS count FROM (VALUES ('a', 1), ('b', 2)) AS t(v, n) "
        "GROUP BY ROLLUP (v) ORDER BY 1 NULLS LAST",
    )
    with pytest.raises(InputError, match="totals are mixed"):
        read_table(path)
    assert read_table(path, Reading(strip_totals=True)).table.counts.tolist() == [1, 2]


@pytest.mark.parametrize("kind", ["TINYINT", "UBIGINT", "HUGEINT", "DOUBLE", "DECIMAL(9, 2)"])
def test_counts_of_every_kind(tmp_path: Path, kind: str) -> None:
    found = read(tmp_path, f"('a', 'x', 1::{kind}), ('b', 'x', 2::{kind})")
    assert found.table.counts.tolist() == [[1], [2]]
    found = read(tmp_path, "('a', 'x', '1'), ('b', 'x', ' 2.0 ')")
    assert found.table.counts.tolist() == [[1], [2]]


@pytest.mark.parametrize(
    ("count", "words"),
    [
        ("NULL::BIGINT", "empty"),
        ("-3::BIGINT", "negative"),
        ("2.5::DOUBLE", "not a whole number"),
        ("'nan'::DOUBLE", "not a number"),
        ("'inf'::DOUBLE", "not a number"),
        ("9223372036854775808::UBIGINT", "9.2e18"),
        ("9007199254740994::DOUBLE", "not exact"),
        ("'three'", "not a number"),
    ],
)
def test_a_faulty_count_is_named_with_its_row_and_cell(tmp_path: Path, count: str, words: str) -> None:
    path = put(
        tmp_path / "t.parquet",
        f"SELECT 'a' AS v, 7 AS w, {count} AS count FROM range(1) UNION ALL SELECT 'never', 1, {count}",
    )
    with pytest.raises(InputError, match=words) as caught:
        read_table(path)
    assert (caught.value.line, caught.value.cell) == (1, "(a, 7)")
    assert caught.value.hint and caught.value.file == str(path)


def test_the_row_is_that_of_the_file_over_row_groups(tmp_path: Path) -> None:
    sql = "SELECT range AS v, 'x' AS w, CASE WHEN range = 70001 THEN -1 ELSE 1 END AS count FROM range(99999)"
    path = put(tmp_path / "t.parquet", sql, ", ROW_GROUP_SIZE 10000")
    with pytest.raises(InputError, match="negative") as caught:
        read_table(path)
    assert (caught.value.line, caught.value.cell) == (70002, "(70001, x)")
    path = put(tmp_path / "u.parquet", sql.replace("-1", "5"), ", ROW_GROUP_SIZE 10000")
    found = read_table(path).table
    assert found.domain["v"].categories[:3] == ("0", "1", "2")
    assert found[(70001, 0)] == 5 and found.total == 99999 + 4


def test_cells_twice_and_empty_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"twice \(first in line 1\)") as caught:
        read(tmp_path, "('a', 'x', 1), ('b', 'x', 2), ('a', 'x', 3)")
    assert (caught.value.line, caught.value.cell) == (3, "(a, x)")
    path = put(tmp_path / "t.parquet", "SELECT 'a' AS v, 1 AS count WHERE false")
    with pytest.raises(InputError, match="no rows"):
        read_table(path)
    with pytest.raises(InputError, match="only one column"):
        read(tmp_path, "(1), (2)", "count")
    with pytest.raises(InputError, match="no categories"):
        read(tmp_path, "([1, 2], 3)", "v, count")


def test_records_are_told_from_tables(tmp_path: Path) -> None:
    with pytest.raises(RecordsError, match="holds records") as caught:
        read(tmp_path, "('a', 30), ('b', 40)", "sex, age")
    assert "tabulate" in caught.value.hint and "--count" in caught.value.hint
    assert read(tmp_path, "('a', 3), ('b', 4)", "sex, people", count="people").table.total == 7
    with pytest.raises(RecordsError, match="several columns"):
        read(tmp_path, "('a', 3, 4)", "v, n, freq")
    with pytest.raises(InputError, match="no column 'x'"):
        read(tmp_path, "('a', 3)", "v, n", count="x")


def test_names_that_are_sql(tmp_path: Path) -> None:
    found = read(tmp_path, "('it''s', 1), (''');--', 2)", '"v""; DROP", n')
    assert found.table.domain.names == ('v"; DROP',)
    assert found.table.domain.variables[0].categories == ("it's", "');--")


def test_a_damaged_file(tmp_path: Path) -> None:
    path = put(tmp_path / "t.parquet", "SELECT range AS v, 1 AS count FROM range(50)")
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    with pytest.raises(InputError, match="damaged, cut off") as caught:
        read_table(path)
    assert caught.value.file == str(path)


@pytest.mark.parametrize("second", ["v", "V"])
def test_two_columns_of_one_name_are_refused(tmp_path: Path, second: str) -> None:
    """As in a CSV file: the reader would call the second ``v_1``, for tables and records alike."""
    path = tmp_path / "t.parquet"
    columns = [pa.array(["a", "b"]), pa.array(["x", "y"]), pa.array([1, 2])]
    pq.write_table(pa.Table.from_arrays(columns, names=["v", second, "count"]), path)
    with pytest.raises(InputError, match="occurs twice"):
        read_table(path)
    with pytest.raises(InputError, match="occurs twice"):
        tp.tabulate(path, by=["v"])
