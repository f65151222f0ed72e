"""GeoPackage: squares where they lie, and layers that other programs made."""

from __future__ import annotations

import sqlite3
import struct
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.registered import named
from tabprotect.engine.formats.table_reading import read_table
from tabprotect.engine.tables.cube import Cube
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

SQUARES = ("1kmN4200E3200", "1kmN4201E3201")


def rows(path: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as base, base:
        return base.execute(sql).fetchall()


@pytest.mark.parametrize(
    ("codes", "reference"),
    [(SQUARES, 3035), (("CRS3857RES1000mN4200000E3200000",), 3857), (("north",), None)],
)
def test_every_cell_has_its_square(tmp_path: Path, codes: tuple[str, ...], reference: int | None) -> None:
    path = tmp_path / "t.gpkg"
    table = Table.dense(
        Domain.of({"cell": codes, "sex": ["m", "f"]}), np.ones((len(codes), 2), dtype=np.int64)
    )
    path.write_bytes(named("geopackage").write(table))
    assert path.read_bytes()[68:72] == b"GPKG" and read_table(path).table == table
    assert rows(path, "SELECT srs_id FROM gpkg_contents") == [(reference,)]
    assert not rows(path, "PRAGMA foreign_key_check") and rows(path, "PRAGMA integrity_check") == [("ok",)]
    if reference is None:
        return
    geometry = rows(path, "SELECT geom FROM cells")[0][0]
    assert isinstance(geometry, bytes)
    # West, east, south, north; then the corners from the south-west on, east before north.
    ends, points = struct.unpack_from("<4d", geometry, 8), struct.unpack_from("<10d", geometry, 53)
    assert ends == (3.2e6, 3.201e6, 4.2e6, 4.201e6)
    assert points[::2] == (3.2e6, 3.201e6, 3.201e6, 3.2e6, 3.2e6)
    assert points[1::2] == (4.2e6, 4.2e6, 4.201e6, 4.201e6, 4.2e6)
    assert struct.unpack_from("<2sBBi", geometry) == (b"GP", 0, 3, reference)


def test_totals_have_no_place_and_hidden_counts_no_number(tmp_path: Path) -> None:
    domain = Domain.of({"cell": [*SQUARES, "Total"]})
    table = Table.dense(domain, [0, 4, 5])
    hidden = np.array([True, False, False])
    path = tmp_path / "t.gpkg"
    path.write_bytes(named("geopackage").publish(Cube(table, hidden)))
    assert rows(path, "SELECT cell, geom IS NULL, count, CONF_STATUS FROM cells") == [
        (SQUARES[0], 0, None, "C"),
        (SQUARES[1], 0, 4, "F"),
        ("Total", 1, 5, "F"),
    ]


def test_a_layer_of_another_program_is_read_without_its_geometry(tmp_path: Path) -> None:
    path = tmp_path / "grid.gpkg"
    with closing(sqlite3.connect(path)) as base, base:
        base.executescript(
            '''PRAGMA application_id = 0x47504B47;
            CREATE TABLE gpkg_contents (table_name TEXT, data_type TEXT);
            CREATE TABLE gpkg_geometry_columns (table_name TEXT, column_name TEXT);
            INSERT INTO gpkg_contents VALUES ('styles', 'attributes'), ('a "grid"', 'features');
            INSERT INTO gpkg_geometry_columns VALUES ('a "grid"', 'Shape');
            CREATE TABLE styles (name TEXT);
            CREATE TABLE "a ""grid""" (OBJECTID INTEGER PRIMARY KEY, SHAPE POLYGON, GRD_ID TEXT, sex TEXT, n REAL);
            INSERT INTO "a ""grid""" VALUES (7, x'4750', '1kmN1E1', 'f', 3.0), (9, NULL, '1kmN1E2', 'f', 12)'''
        )
    found = read_table(path).table
    assert found.domain.names == ("GRD_ID", "sex") and found.counts.ravel().tolist() == [3, 12]


@pytest.mark.parametrize("fault", ["cut", "empty"])
def test_what_is_no_layer_is_refused(tmp_path: Path, fault: str) -> None:
    path = tmp_path / "t.gpkg"
    whole = named("geopackage").write(Table.dense(Domain.of({"cell": SQUARES}), [1, 2]))
    path.write_bytes(whole[: len(whole) // 3] if fault == "cut" else whole)
    if fault == "empty":
        with closing(sqlite3.connect(path)) as base, base:
            base.execute("DELETE FROM gpkg_contents")
    with pytest.raises(InputError, match=r"damaged|no layer"):
        read_table(path)


def test_names_that_the_file_needs_are_refused() -> None:
    for name in ("geom", "Count"):
        with pytest.raises(InputError, match=r"geom|GeoPackage|Count"):
            named("geopackage").write(Table.dense(Domain.of({name: ["a"]}), [1]))
