"""What holds for every file format."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

import numpy as np

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.format import Format
from tabprotect.engine.formats.reading_options import Reading
from tabprotect.engine.formats.registered import format_of, formats
from tabprotect.engine.formats.table_reading import read_table
from tabprotect.engine.formats.table_writing import write_table
from tabprotect.engine.options import options_of
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.structural import StructuralZeros
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Level, Variable
from tabprotect.testing.failure import CheckFailed, require

SHAPES = ((5,), (2, 3), (2, 3, 4), (1, 1, 1), (3, 2, 1, 2))

NO_TABLES = (b"", b"\x00\xff" * 3000)
"""Files of no format."""


def _declared(kind: Format) -> None:
    require(bool(kind.label and kind.holds and kind.limits), "label, holds, limits are needed")
    unknown = sorted(kind.options - {option.name for option in options_of(Reading)})
    require(not unknown, f"unknown options {unknown}")
    require(bool(kind.suffixes), "at least one suffix is needed")
    for suffix in kind.suffixes:
        require(
            re.fullmatch(r"(\.[a-z0-9]+)+", suffix) is not None,
            f"a suffix is a point and small letters or digits, not {suffix!r}",
        )
    for limit in kind.limits:
        require(limit.endswith("."), f"a limit must be a sentence: {limit!r}")
    require(bool(kind.help), "the module's docstring is the page: there is none")
    json.dumps(kind.as_json(), allow_nan=False)


def _round_trip(kind: Format, folder: Path) -> None:
    path = folder / f"t{kind.suffixes[0]}"
    for shape in SHAPES:
        counts = np.arange(int(np.prod(shape))).reshape(shape) * 10**15
        table = Table.dense(Domain.of_shape(shape), counts)
        data = kind.write(table)
        require(kind.write(table) == data, f"writing twice gives other bytes, shape {shape}")
        write_table(table, path, kind)
        require(format_of(path) is kind, f"its own file is taken for {format_of(path).name}")
        require(read_table(path).table == table, f"another table came back, shape {shape}")
    if kind.levels:
        region = Variable("r", ("a", "b", "c"), (Level("half", ("x", "x", 'y"')),), "third")
        nobody = (StructuralZeros((("r", ("a",)), ("s", ("m",)))),)
        domain = Domain((region, Variable("s", ("m", "f"))), nobody)
        table = Table.dense(domain, np.arange(6).reshape(3, 2))
        write_table(table, path, kind)
        require(
            read_table(path).table == table, "the levels of a variable or structural zeros did not come back"
        )
    if kind.labels:
        coded = Variable("r", ("1", "2"), labels=("Nord, Süd", "1"))
        table = Table.dense(Domain((coded, Variable("s", ("m", "f")))), np.arange(4).reshape(2, 2))
        write_table(table, path, kind)
        found = read_table(path).table.domain
        require(
            [v.labels for v in found.variables] == [coded.labels, ()],
            "the labels of categories did not come back",
        )


def _refuses(kind: Format, folder: Path) -> None:
    path = folder / f"u{kind.suffixes[0]}"
    for data in NO_TABLES:
        path.write_bytes(data)
        try:
            read_table(path)
        except InputError as error:
            require(error.file == str(path), "an error must name the file")
        else:
            raise CheckFailed(f"a file of {len(data)} meaningless bytes was read as a table")


def check_format(kind: Format | type[Format]) -> None:
    """Run every check on a format of one's own; it need not be registered.

    Raises
    ------
    CheckFailed
        With what the first check that fails found.
    """
    made = kind() if isinstance(kind, type) else kind
    with formats().including(made), tempfile.TemporaryDirectory() as folder:
        try:
            _declared(made)
            if made.writes:
                _round_trip(made, Path(folder))
            _refuses(made, Path(folder))
        except CheckFailed as error:
            raise CheckFailed(f"{made.name}: {error}") from None
