"""Columns of files of statistics programs: SPSS, Stata and SAS by pyreadstat, R by rdata."""

from __future__ import annotations

import bz2
import lzma
import zlib
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol

from tabprotect.engine.foreign.wire import Buffer
from tabprotect.engine.foreign.worker import Answer, Refused
from tabprotect.engine.paths import is_file

EXACT_FLOAT = 2**53


def labelled(of: Mapping[str, object], buffers: Sequence[Buffer], tell: Callable[[float], None]) -> Answer:
    """The columns that pyreadstat's function ``of["reader"]`` reads.

    Each with its name, its different texts, the texts of values that have a label, and its own label; in
    a buffer the number of each row's text, -1 where it is missing.
    """
    import pyreadstat

    path = Path(str(of["path"]))
    options: dict[str, object] = {"user_missing": True}
    reader = str(of["reader"])
    if reader == "read_sas7bdat":
        with path.open("rb") as file:
            transport = file.read(6) == b"HEADER"
        catalog = path.with_suffix(".sas7bcat")
        options = {} if transport or not is_file(catalog) else {"catalog_file": catalog}
        reader = "read_xport" if transport else reader
    read = getattr(pyreadstat, reader)
    try:
        found, said = read(path, output_format="dict", **options)
    except OverflowError:
        # A date that Python's calendar does not have: dates stay the numbers of the file.
        options["disable_datetime_conversion"] = True
        found, said = read(path, output_format="dict", **options)
    labels, names = said.variable_value_labels, said.column_names_to_labels
    out, numbers = [], []
    for name, values in found.items():
        texts, codes = numbered(values)
        of_values = [[as_text(value) or "", str(label)] for value, label in labels.get(name, {}).items()]
        own = names.get(name)
        out.append([name, texts, of_values, None if own is None else str(own)])
        numbers.append(codes)
    return out, numbers


def labelled_texts(
    of: Mapping[str, object], buffers: Sequence[Buffer], tell: Callable[[float], None]
) -> Answer:
    """The title of a file and its notes."""
    import pyreadstat

    path = Path(str(of["path"]))
    reader = str(of["reader"])
    with path.open("rb") as file:
        reader = "read_xport" if file.read(6) == b"HEADER" else reader
    _, said = getattr(pyreadstat, reader)(path, metadataonly=True)
    return [str(said.file_label or ""), [str(note) for note in said.notes or []]], ()


def _load_pyreadstat(of: Mapping[str, object]) -> None:
    import_module("pyreadstat")


labelled.ready = _load_pyreadstat  # type: ignore[attr-defined]
labelled_texts.ready = _load_pyreadstat  # type: ignore[attr-defined]


def r(of: Mapping[str, object], buffers: Sequence[Buffer], tell: Callable[[float], None]) -> Answer:
    """The columns of the first data frame: name, texts, levels of a factor; numbers in a buffer each."""
    from tabprotect.engine.foreign.r_objects import data_frame

    data = _unpacked(Path(str(of["path"])).read_bytes(), int(str(of["most"])))
    frame = data_frame(data)
    if frame is None:
        raise Refused("no data frame")
    out, numbers = [], []
    for name, values, order in frame:
        texts, codes = numbered(values)
        out.append([name, texts, order])
        numbers.append(codes)
    return out, numbers


def _load_rdata(of: Mapping[str, object]) -> None:
    import_module("tabprotect.engine.foreign.r_objects").parser()


r.ready = _load_rdata  # type: ignore[attr-defined]


def numbered(values: Iterable[object]) -> tuple[list[str], Buffer]:
    """The different texts of values, and each row's number among them, -1 where it is missing."""
    seen: dict[object, int] = {}
    rows = array("i", [seen.setdefault(value, len(seen)) for value in values])
    texts: dict[str, int] = {}
    numbers = array("i")
    for value in seen:
        text = as_text(value)
        numbers.append(-1 if text is None else texts.setdefault(text, len(texts)))
    if numbers.tolist() != list(range(len(numbers))):
        rows = array("i", [numbers[row] for row in rows])
    return list(texts), Buffer("i4", memoryview(rows).cast("B") if len(rows) else b"")


def as_text(value: object) -> str | None:
    """A value as a category: whole numbers without decimals; ``None`` if missing."""
    if value is None or value != value:
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < EXACT_FLOAT:
        return str(int(value))
    return str(value)


class _Unpacking(Protocol):
    """The common part of reading gzip, bzip2 and xz."""

    @property
    def eof(self) -> bool: ...
    def decompress(self, data: bytes, most: int, /) -> bytes: ...


def _unpacked(data: bytes, most: int) -> bytes:
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
    out = unpacking.decompress(data, most)
    if not unpacking.eof:
        raise Refused("cut off")
    return out
