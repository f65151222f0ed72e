"""SDMX-CSV 1 and 2: a line for each observation, as statistical offices exchange them.

The first column is `DATAFLOW` (version 1) or `STRUCTURE` (version 2). The columns before `OBS_VALUE`
are the variables, those behind it attributes, which are left out; so are the reserved ones
(`STRUCTURE_ID`, `ACTION`, `LAST UPDATE` and their like). Categories are codes; `_T` is a total. An
observation without a value is refused: a suppressed count cannot be protected. Written as version
2 with `OBS_STATUS` A (normal) and `CONF_STATUS` N (not for publication: true counts); published
counts with F (free), suppressed ones without a value, with `OBS_STATUS` Q and `CONF_STATUS` C.
"""

from __future__ import annotations

import re
from pathlib import Path

from tabprotect.engine.arrays import Bools
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.csv_text import write_csv
from tabprotect.engine.formats.format import Format
from tabprotect.engine.formats.layouts.cell_list import CellList
from tabprotect.engine.formats.layouts.forms import Form
from tabprotect.engine.formats.layouts.long_form import read_long
from tabprotect.engine.formats.reading import Reading
from tabprotect.engine.formats.statuses import (
    CONF_STATUS,
    CONFIDENTIAL,
    FREE,
    NORMAL,
    NOT_FOR_PUBLICATION,
    OBS_STATUS,
    SUPPRESSED,
)
from tabprotect.engine.formats.text.rows import TextRows
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.table import Table

VALUE = "OBS_VALUE"
RESERVED = frozenset(
    {
        "DATAFLOW",
        "STRUCTURE",
        "STRUCTURE_ID",
        "STRUCTURE_NAME",
        "ACTION",
        "LAST UPDATE",
        "SERIES_KEY",
        "OBS_KEY",
    }
)
STRUCTURE_ID = "TABPROTECT:TABLE(1.0)"

_HEAD = re.compile(
    rb'(\xef\xbb\xbf)?"?(DATAFLOW"?(?P<one>[,;])|STRUCTURE(\[[^]]{0,9}\])?"?(?P<two>[,;])"?STRUCTURE_ID)'
)


class SdmxCsv(Format):
    label = "SDMX-CSV"
    suffixes = (".sdmx.csv",)
    options = frozenset({"count", "encoding", "delimiter", "decimal"})
    limits = (
        "Attributes, names of codes and the definition of the structure are left out.",
        "Other programs take only letters, digits and underscores in the names of variables.",
    )

    def sniff(self, head: bytes) -> bool:
        return _HEAD.match(head) is not None

    def cells(
        self, path: Path, reading: Reading, progress: Progress = SILENT
    ) -> tuple[CellList, list[str]]:
        delimiter = reading.delimiter or _delimiter(path)
        source = TextRows(path, encoding=reading.encoding, delimiter=delimiter, progress=progress)
        header = next(source.rows(), [])
        # With labels asked for, a column is "GEO: Geopolitical entity".
        ids = [_id(name) for name in header]
        wanted = reading.count or VALUE
        if wanted not in ids:
            raise InputError(
                f"there is no column {wanted}",
                line=1,
                hint=f"name the column of the values: --count COLUMN; there are {', '.join(ids)}",
            )
        value = ids.index(wanted)
        variables = [c for c, name in enumerate(ids[:value]) if name not in RESERVED]
        if "STRUCTURE_NAME" in ids:
            # Every code is followed by its name.
            variables = variables[::2]
        dropped = [c for c in range(len(ids)) if c != value and c not in variables]
        form = Form("long", value, left_out=frozenset(dropped))
        cells, notes = read_long(source, form, decimal=reading.decimal, progress=progress)
        behind = [header[c] for c in dropped if c > value]
        if behind:
            notes.append(f"attributes were left out: {', '.join(behind)}")
        return cells, notes

    def write(self, table: Table) -> bytes:
        return self._written(table, None, NOT_FOR_PUBLICATION)

    def publish(self, table: Table, hidden: Bools | None, title: str) -> bytes:
        return self._written(table, hidden, FREE)

    def _written(self, table: Table, hidden: Bools | None, status: str) -> bytes:
        for name in table.domain.names:
            if _id(name) in RESERVED | {VALUE} or _id(name) != name:
                raise InputError(
                    f"no variable can be named {name!r} in SDMX-CSV", hint="rename it first"
                )
        return write_csv(
            table,
            count=VALUE,
            before={"STRUCTURE": "dataflow", "STRUCTURE_ID": STRUCTURE_ID, "ACTION": "I"},
            without=hidden,
            after={OBS_STATUS: NORMAL, CONF_STATUS: status},
            after_hidden={OBS_STATUS: SUPPRESSED, CONF_STATUS: CONFIDENTIAL},
        )


def _delimiter(path: Path) -> str | None:
    """What stands behind the first column, whose name is fixed: categories may hold any sign."""
    with path.open("rb") as stream:
        found = _HEAD.match(stream.read(100))
    return None if found is None else (found["one"] or found["two"]).decode()


def _id(name: str) -> str:
    """The identifier in a header: ``GEO: Geopolitical entity`` and ``ATTR[]`` say more."""
    return name.partition(":")[0].partition("[")[0].strip()


PLUGIN = SdmxCsv()
