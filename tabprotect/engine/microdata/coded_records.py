"""Records as codes, counted by whichever variables are asked for: a fiftieth of a second for ten million."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.rows.sql_text import literal, quoted
from tabprotect.engine.microdata import coded_counts
from tabprotect.engine.microdata.coding import AddedUp
from tabprotect.engine.microdata.record_files import MicrodataFile, open_microdata
from tabprotect.engine.microdata.record_keys import key_of_record
from tabprotect.engine.microdata.tabulate import check_columns, counted_variable
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.domain import DOMAIN_CELLS, Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import MISSING, Variable
from tabprotect.languages.messages import message

Codes = np.ndarray
"""uint8 or uint16 (records,)."""


@dataclass(frozen=True, eq=False, repr=False)
class CodedRecords:
    """Records with keys. Confidential.

    Attributes
    ----------
    domain
        Of all their variables.
    codes
        The category of each record, variable by variable.
    keys : uint32 (records,)
        Whole numbers below ``key_range``.
    """

    domain: Domain
    codes: tuple[Codes, ...]
    keys: np.ndarray
    key_range: int

    @classmethod
    def read(
        cls, path: Path | str, columns: tuple[str, ...], record_key: str, progress: Progress = SILENT
    ) -> CodedRecords:
        """Read the columns of a file.

        Raises
        ------
        InputError
            For an unknown or repeated column, invalid keys, no records, or a damaged file.
        """
        with open_microdata(path, progress) as source:
            try:
                check_columns(source, list(columns), AddedUp(record_key=record_key))
                key, key_range = key_of_record(source, record_key, progress)
                variables = [_variable(source, number, name) for number, name in enumerate(columns)]
                *codes, keys = _read(source, variables, key, progress)
            except InputError as error:
                raise error.in_file(source.path) from None
        wide = math.prod(len(v.categories) for v in variables) > DOMAIN_CELLS
        return cls(Domain(tuple(variables), wide=wide), tuple(codes), keys.astype(np.uint32), key_range)

    def count(self, names: tuple[str, ...]) -> tuple[Table, Table]:
        """The counts by some variables, and the sums of the keys modulo their range."""
        domain = self.domain.project(names)
        codes = tuple(self.codes[self.domain.axis(name)] for name in domain.names)
        pairs = np.zeros((domain.size, 2), dtype=np.int64)
        coded_counts.counted(codes, np.array(domain.shape), self.keys, pairs)
        pairs[:, 1] %= self.key_range
        counts, sums = (pairs[:, n].reshape(domain.shape).copy() for n in range(2))
        return Table.dense(domain, counts), Table.dense(domain, sums)

    @property
    def mark(self) -> int:
        """A number that tells these records from others, whatever their order; below 2^62."""
        out = self.keys.astype(np.uint64)
        with np.errstate(over="ignore"):
            for column in self.codes:
                out = (out ^ (out >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15) + column
            out = (out ^ (out >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
            return int(out.sum(dtype=np.uint64) >> np.uint64(2)) | 1


def _value(name: str) -> str:
    return f"coalesce(CAST({quoted(name)} AS VARCHAR), '{MISSING}')"


def _variable(source: MicrodataFile, number: int, name: str) -> Variable:
    """A variable with its categories, which the connection knows as a type of its own."""
    sql = f"CREATE OR REPLACE TABLE cells AS SELECT DISTINCT {_value(name)} AS v0 FROM {source.relation}"
    source.run(lambda c: c.execute(sql), message("sorting the categories"))
    variable = counted_variable(source, 0, name, None, None)
    listed = ", ".join(map(literal, variable.categories))
    source.run(
        lambda c: c.execute(f"CREATE TYPE of{number} AS ENUM ({listed})"), message("sorting the categories")
    )
    return variable


def _read(
    source: MicrodataFile, variables: Sequence[Variable], key: str, progress: Progress
) -> Iterator[np.ndarray]:
    """The codes of all records, variable by variable, then their keys: one query, since rows have no order."""
    words: list[list[int]] = [[]]
    for number, variable in enumerate(variables):
        size = math.prod(len(variables[n].categories) for n in words[-1]) * len(variable.categories)
        if size > DOMAIN_CELLS:
            words.append([])
        words[-1].append(number)
    said = []
    for word in words:
        packed = "0"
        for number in word:
            code = f"CAST(enum_code(CAST({_value(variables[number].name)} AS of{number})) AS BIGINT)"
            packed = f"({packed}) * {len(variables[number].categories)} + {code}"
        said.append(packed)
    columns = ", ".join(f"{one} AS w{n}" for n, one in enumerate([*said, key]))
    found = source.run(
        lambda c: c.execute(f"SELECT {columns} FROM {source.relation}").fetchnumpy(),
        message("coding the records"),
        progress,
    )
    for n, word in enumerate(words):
        packed_codes, parts = np.asarray(found[f"w{n}"]), []
        for number in reversed(word):
            size = len(variables[number].categories)
            parts.append((packed_codes % size).astype(np.uint8 if size <= 256 else np.uint16))
            packed_codes = packed_codes // size
        yield from reversed(parts)
    yield np.asarray(found[f"w{len(words)}"])
