"""R data frames (.rds, .rdata): records, or a table in long form.

Needs the extra `statistics` (rdata). Of a file with several objects the first data frame is read.
Categories are the levels of a factor in their order, else the values in order of first
appearance; NA is missing. A data frame with a column `count` is a table, any other holds records.
Written as one data frame (.rds) of factors and a number; suppressed counts are NA, with C (else F) in
`CONF_STATUS`. What tau-ARGUS calls .rda is text, and no R file.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import tempfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from tabprotect.engine.budgets import MOST_TEXT
from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.agencies.column_files import ColumnFormat, TypedColumn, as_text
from tabprotect.engine.formats.format import COUNT
from tabprotect.engine.formats.layouts.observations import refuse_texts
from tabprotect.engine.formats.statuses import SHOWN
from tabprotect.languages.said import say

_BEGINS = (b"RDX3\n", b"RDX2\n", b"RDA3\n", b"X\n\x00\x00\x00\x02", b"X\n\x00\x00\x00\x03")


class R(ColumnFormat):
    label = say("R")
    suffixes = (".rds", ".rdata", ".rda")
    media = "application/x-r-data"
    library = "rdata"
    limits = (
        say("Data frames alone; attributes other than factors' levels are left out."),
        say("Counts from 2^53 on are written as texts."),
        say("A file is read as a whole, at most 512 MiB: keep large data as Parquet."),
    )

    def sniff(self, head: bytes) -> bool:
        if head.startswith(b"\x1f\x8b"):
            try:
                head = zlib.decompressobj(31).decompress(head, 64)
            except zlib.error:
                return False
        return head.startswith(_BEGINS)

    def accepts(self, path: Path, head: bytes) -> bool:
        # A text file is a tau-ARGUS description, also named .rda.
        packed = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", *_BEGINS)
        return not head or path.suffix.lower() != ".rda" or head.startswith(packed)

    def columns(self, path: Path) -> dict[str, TypedColumn]:
        library = self.module()
        if path.stat().st_size > MOST_TEXT:
            raise InputError(say("the file is too large for R"), hint=say("save it as Parquet"))
        try:
            data = _unpacked(path.read_bytes())
            kind = ".rds" if data.startswith(b"X\n") else ".rda"
            parsed = library.parser.parse_data(data, extension=kind)
            found = library.conversion.convert(parsed)
        except (InputError, MemoryError):
            raise
        # The parser may raise anything on a damaged file.
        except Exception as error:
            raise self.damaged(error) from None
        objects = list(found.values()) if type(found) is dict else [found]
        frame = next((o for o in objects if hasattr(o, "columns")), None)
        if frame is None:
            raise InputError(
                say("the file holds no data frame"), hint=say("save one: saveRDS(frame, file)")
            )
        return {str(name): _column(frame[name]) for name in frame.columns}

    def pack(self, columns: Mapping[str, TypedColumn]) -> bytes:
        library = self.module()
        # Late: it comes with the library's own extra.
        import pandas as pd

        texts = (text for name, column in columns.items() for text in (name, *column.order))
        refuse_texts(texts, lambda text: text and text.isprintable(), "R")
        data = {
            name: [float("nan") if v is None else float(v) for v in column.values]
            if name == COUNT and not column.order
            else pd.Categorical(
                [SHOWN if v is None else v for v in column.values],
                categories=[*column.order, *([SHOWN] if None in column.values else [])],
            )
            for name, column in columns.items()
        }
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.rds"
            library.write_rds(path, pd.DataFrame(data), compression=None)
            # Without the time: the same bytes for the same table.
            return gzip.compress(path.read_bytes(), mtime=0)


class _Unpacking(Protocol):
    """What gzip, bzip2 and xz have in common."""

    @property
    def eof(self) -> bool: ...
    def decompress(self, data: bytes, most: int, /) -> bytes: ...


class _Listed(Protocol):
    def tolist(self) -> list[object]: ...


class _Categories(Protocol):
    categories: Sequence[object]


class _Series(_Listed, Protocol):
    """What is used of a column of pandas; ``cat`` where it is a factor."""

    cat: _Categories

    def isna(self) -> _Listed: ...


def _unpacked(data: bytes) -> bytes:
    """Unpack bytes as compressed by R (gzip, bzip2, xz), up to the memory limit."""
    unpacking: _Unpacking
    if data.startswith(b"\x1f\x8b"):
        unpacking = zlib.decompressobj(31)
    elif data.startswith(b"BZh"):
        unpacking = bz2.BZ2Decompressor()
    elif data.startswith(b"\xfd7zXZ"):
        unpacking = lzma.LZMADecompressor()
    else:
        return data
    out = unpacking.decompress(data, MOST_TEXT)
    if not unpacking.eof:
        raise InputError(
            say("the file is cut off, or too large for R"), hint=say("save it as Parquet")
        )
    return out


def _column(values: _Series) -> TypedColumn:
    order: tuple[str, ...] = ()
    if hasattr(values, "cat"):
        order = tuple(map(str, values.cat.categories))
    missing = values.isna().tolist()
    texts = [None if gone else as_text(v) for gone, v in zip(missing, values.tolist(), strict=True)]
    return TypedColumn(texts, order)


PLUGIN = R()
