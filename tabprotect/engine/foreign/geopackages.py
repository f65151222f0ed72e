"""Columns of a layer of a GeoPackage, which is an SQLite database."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tabprotect.engine.foreign.statistics_files import numbered
from tabprotect.engine.foreign.wire import Buffer
from tabprotect.engine.foreign.worker import Answer, Refused

LAYERS = "SELECT table_name FROM gpkg_contents WHERE data_type IN ('features', 'attributes') ORDER BY data_type DESC"


def layer(of: Mapping[str, object], buffers: Sequence[Buffer], tell: Callable[[float], None]) -> Answer:
    """The columns of the first layer, those with places before others: name and texts; numbers in a buffer each.

    Geometries and the number of a feature are left out.
    """
    path = Path(str(of["path"])).absolute()
    with sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True) as base:
        base.execute("PRAGMA trusted_schema = OFF")
        found = base.execute(LAYERS).fetchone()
        if found is None:
            raise Refused("no layer")
        columns = base.execute("SELECT name, type, pk FROM pragma_table_info(?)", found).fetchall()
        places = "SELECT lower(column_name) FROM gpkg_geometry_columns WHERE table_name = ?"
        there = base.execute("SELECT 1 FROM sqlite_master WHERE name = 'gpkg_geometry_columns'").fetchone()
        skipped = {name for (name,) in base.execute(places, found)} if there else set()
        names = [
            name
            for name, kind, key in columns
            if not (key and kind.upper() == "INTEGER")
            and kind.upper() != "BLOB"
            and name.lower() not in skipped
        ]
        if not names:
            raise Refused("no layer")
        chosen, table = (
            ", ".join('"' + one.replace('"', '""') + '"' for one in of_) for of_ in (names, found)
        )
        rows = base.execute(f"SELECT {chosen} FROM {table}").fetchall()
    out, numbers = [], []
    for at, name in enumerate(names):
        texts, codes = numbered(row[at] for row in rows)
        out.append([name, texts])
        numbers.append(codes)
    return out, numbers
