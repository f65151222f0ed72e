"""GeoPackage (.gpkg): records, or a table in long form, with squares of a grid where they lie.

Of several layers the first with places is read, else the first of attributes; geometries are left out, for the
codes of squares (`1kmN2689E4337`) say where they are. A layer with a column `count` is a table, any other
holds records. Written as one layer `cells` with a row for each cell; where categories are squares of a grid a
row has its square in ETRS89-LAEA (EPSG:3035), or in the system that the codes name, and totals have none.
Suppressed counts are null, with C (else F) in `CONF_STATUS`.
"""

from __future__ import annotations

import re
import sqlite3
import struct
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from tabprotect.engine.errors import InputError
from tabprotect.engine.foreign.answers import columns_of, text, texts
from tabprotect.engine.foreign.reader import RefusedFileError
from tabprotect.engine.formats.agencies.column_files import ColumnFormat, TypedColumn, in_rows
from tabprotect.engine.formats.layouts.observations import refuse_names
from tabprotect.engine.formats.rows.sql_text import quoted
from tabprotect.engine.formats.statuses import COUNT
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.cube import Cube
from tabprotect.engine.tables.groupings.squares import Square, square_of
from tabprotect.languages.messages import message

_LAYER, _KEY, _PLACE = "cells", "fid", "geom"
_THEN = "2000-01-01T00:00:00.000Z"
"""In the place of the time: the same bytes for the same table."""
_DEGREES = 'GEOGCS["{}",DATUM["{}",SPHEROID["{}",6378137,{}]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]]'
_WGS84 = _DEGREES.format("WGS 84", "WGS_1984", "WGS 84", 298.257223563)
_ETRS89 = _DEGREES.format("ETRS89", "European_Terrestrial_Reference_System_1989", "GRS 1980", 298.257222101)
_LAEA = (
    f'PROJCS["ETRS89-extended / LAEA Europe",{_ETRS89},PROJECTION["Lambert_Azimuthal_Equal_Area"],'
    'PARAMETER["latitude_of_center",52],PARAMETER["longitude_of_center",10],'
    'PARAMETER["false_easting",4321000],PARAMETER["false_northing",3210000],UNIT["metre",1],'
    'AUTHORITY["EPSG","3035"]]'
)
_EUROPE = 3035
_SCHEMA = """
PRAGMA application_id = 0x47504B47; PRAGMA user_version = 10300;
CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT NOT NULL, srs_id INTEGER PRIMARY KEY, organization TEXT NOT NULL,
  organization_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL, description TEXT);
CREATE TABLE gpkg_contents (table_name TEXT NOT NULL PRIMARY KEY, data_type TEXT NOT NULL, identifier TEXT UNIQUE,
  description TEXT DEFAULT '', last_change DATETIME NOT NULL, min_x DOUBLE, min_y DOUBLE, max_x DOUBLE,
  max_y DOUBLE, srs_id INTEGER REFERENCES gpkg_spatial_ref_sys (srs_id));
CREATE TABLE gpkg_geometry_columns (table_name TEXT NOT NULL UNIQUE REFERENCES gpkg_contents (table_name),
  column_name TEXT NOT NULL, geometry_type_name TEXT NOT NULL,
  srs_id INTEGER NOT NULL REFERENCES gpkg_spatial_ref_sys (srs_id), z TINYINT NOT NULL, m TINYINT NOT NULL,
  PRIMARY KEY (table_name, column_name));
"""


class GeoPackage(ColumnFormat):
    label = message("GeoPackage")
    suffixes = (".gpkg",)
    media = "application/geopackage+sqlite3"
    library = "sqlite3"
    orders_codes = False
    begins = re.compile(rb"SQLite format 3\x00.{52}(GPKG|GP1\d)", re.DOTALL)
    limits = (
        message("One layer, in long form; only squares of a grid are written where they lie."),
        message("A file is read as a whole."),
    )

    def columns(self, path: Path, progress: Progress = SILENT) -> dict[str, TypedColumn]:
        try:
            found, buffers = self.asked("layer", {}, path, progress)
        except RefusedFileError:
            raise InputError(
                message("the GeoPackage has no layer of features or attributes"),
                hint=message("save the layer again, with its attributes"),
            ) from None
        columns = zip(columns_of(found, buffers, 2, path), buffers, strict=True)
        return {
            text(name, path): TypedColumn(in_rows(texts(different, path), buffer, path))
            for (name, different), buffer in columns
        }

    def publish(self, cube: Cube) -> bytes:
        refuse_names(cube.table.domain, (_KEY, _PLACE))
        return super().publish(cube)

    def pack(self, columns: Mapping[str, TypedColumn]) -> bytes:
        grids = ({one: square_of(one) for one in c.order} for c in columns.values())
        squares = next((found for found in map(_of_one_system, grids) if found), {})
        at = next((name for name, c in columns.items() if squares.keys() & set(c.order)), "")
        system = next((one.system for one in squares.values()), "")
        # CRS3035RES: what stands before the side.
        reference = int(system[3:-3] or 0) if system else _EUROPE
        stored: dict[str, tuple[str, Sequence[object]]] = {
            name: ("INTEGER", [None if v is None else int(v) for v in c.values])
            if name == COUNT
            else ("TEXT", c.values)
            for name, c in columns.items()
        }
        if squares:
            shapes = {code: _polygon(one, reference) for code, one in squares.items()}
            stored = {_PLACE: ("POLYGON", [shapes.get(v or "") for v in columns[at].values]), **stored}
        with closing(sqlite3.connect(":memory:")) as base:
            base.executescript(_SCHEMA)
            base.executemany(
                "INSERT INTO gpkg_spatial_ref_sys VALUES (?, ?, ?, ?, ?, NULL)",
                [
                    ("undefined Cartesian", -1, "NONE", -1, "undefined"),
                    ("undefined geographic", 0, "NONE", 0, "undefined"),
                    ("WGS 84", 4326, "EPSG", 4326, _WGS84),
                    ("ETRS89-extended / LAEA Europe", _EUROPE, "EPSG", _EUROPE, _LAEA),
                    *(
                        [(system, reference, "EPSG", reference, "undefined")]
                        * (reference not in (0, 4326, _EUROPE))
                    ),
                ],
            )
            try:
                kinds = ", ".join(f"{quoted(name)} {kind}" for name, (kind, _) in stored.items())
                base.execute(f"CREATE TABLE {_LAYER} ({_KEY} INTEGER PRIMARY KEY, {kinds})")
                names, marks = ", ".join(map(quoted, stored)), ", ".join("?" * len(stored))
                rows = zip(*(values for _, values in stored.values()), strict=True)
                base.executemany(f"INSERT INTO {_LAYER} ({names}) VALUES ({marks})", rows)
            except (sqlite3.Error, ValueError) as error:
                raise InputError(
                    message("a GeoPackage cannot hold this table"),
                    hint=message("give the variables names that differ in more than capitals"),
                    detail=str(error),
                ) from None
            ends = _ends(squares) if squares else (None,) * 4
            kind = "features" if squares else "attributes"
            base.execute(
                "INSERT INTO gpkg_contents VALUES (?, ?, ?, '', ?, ?, ?, ?, ?, ?)",
                (_LAYER, kind, _LAYER, _THEN, *ends, reference if squares else None),
            )
            if squares:
                base.execute(
                    "INSERT INTO gpkg_geometry_columns VALUES (?, ?, 'POLYGON', ?, 0, 0)",
                    (_LAYER, _PLACE, reference),
                )
            base.commit()
            return base.serialize()


def _of_one_system(found: Mapping[str, Square | None]) -> dict[str, Square]:
    squares = {code: one for code, one in found.items() if one is not None}
    first = next(iter(squares.values()), None)
    return {code: one for code, one in squares.items() if first is not None and one.system == first.system}


def _ends(squares: Mapping[str, Square]) -> tuple[int, int, int, int]:
    of = squares.values()
    return (
        min(one.east for one in of),
        min(one.north for one in of),
        max(one.east + one.side for one in of),
        max(one.north + one.side for one in of),
    )


def _polygon(square: Square, reference: int) -> bytes:
    """A square as GeoPackage's binary geometry: a header with its ends, then a polygon of five points."""
    west, south, east, north = _ends({"": square})
    head = struct.pack("<2sBBi4d", b"GP", 0, 0b11, reference, west, east, south, north)
    points = (west, south, east, south, east, north, west, north, west, south)
    return head + struct.pack("<BIII10d", 1, 3, 1, 5, *points)


PLUGIN = GeoPackage()
