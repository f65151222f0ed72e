"""The registered formats: every module in ``kinds/``; the format of a file, or why it has none."""

from __future__ import annotations

import codecs
import re
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.formats import kinds as package
from tabprotect.engine.paths import check_file
from tabprotect.engine.registry import Registry, own_names
from tabprotect.languages.messages import message

if TYPE_CHECKING:
    from tabprotect.engine.formats.format import Format, Holds

HEAD = 4096
"""The number of bytes examined to recognise a format."""

TEXT = "csv"
"""The format assumed for a file with no other indication."""


@cache
def formats() -> Registry[Format]:
    """Every registered format by the name of its module."""
    # Late: their names alone need none of what they read and write with.
    from tabprotect.engine.formats.format import Format

    return Registry(package, Format, "format")


def format_names() -> tuple[str, ...]:
    """The names of all formats, without importing any: for the help of the command line."""
    return tuple(name.replace("_", "-") for name in own_names(package))


def named(name: str) -> Format:
    """A format by its name.

    Raises
    ------
    ParameterError
        For an unknown one.
    """
    return formats()[name.replace("-", "_")]


def figures_format(name: str) -> Format:
    """A format for rows of figures, by name.

    Raises
    ------
    ParameterError
        For an unknown one, or one that holds no figures, listing those that do.
    """
    kind = named(name)
    if not kind.holds_figures:
        able = ", ".join(other.name for other in formats().values() if other.holds_figures)
        raise ParameterError(
            {"format": message("{label} files hold no figures; choose one of {able}", kind.label, able)}
        )
    return kind


def by_suffix(path: Path) -> Format | None:
    """The format by the suffix of a file, to be read or written; ``t.csv.gz`` is text."""
    name = path.name.lower()
    name = name.removesuffix(".gz") if "." in name.removesuffix(".gz") else name
    found = [(len(s), f) for f in formats().values() for s in f.suffixes if name.endswith(s)]
    return max(found, key=lambda pair: pair[0])[1] if found else None


def format_of(path: Path, metadata: str | None = None) -> Format:
    """The format of a file: by its description, its first bytes, its name, else text.

    Parameters
    ----------
    metadata
        The file that describes it, if a person names it.

    Raises
    ------
    InputError
        If it is no regular file, or a kind of file known to be something else.
    """
    if metadata is not None:
        for kind in formats().values():
            if kind.described_by and metadata.lower().endswith(kind.described_by):
                check_file(path)
                return kind
    head = _head(path)
    begins = _unpacked(head)
    said = next((f for f in formats().values() if f.sniff(begins)), None) or by_suffix(path)
    if said is not None and not said.accepts(path, head):
        said = None
    if said is None or said.name == TEXT:
        other = foreign(path, head)
        if other is not None:
            raise InputError(message("not a table file: {label}", other.label), file=path, hint=other.hint)
    check_file(path)
    if said is not None and path.suffix.lower() == ".gz" and not said.packed:
        raise InputError(
            message("{label} files are not read packed", said.label),
            file=path,
            hint=message("unpack it first: gunzip"),
        )
    return said or named(TEXT)


def _head(path: Path) -> bytes:
    """The first bytes of a file; empty if it cannot be read."""
    try:
        check_file(path)
        with path.open("rb") as file:
            return file.read(HEAD)
    except (InputError, OSError):
        # The name may still tell the intended format.
        return b""


def _unpacked(head: bytes) -> bytes:
    """The first bytes of what is packed by gzip; others as they are."""
    if not head.startswith(b"\x1f\x8b"):
        return head
    try:
        return zlib.decompressobj(31).decompress(head, HEAD)
    except zlib.error:
        return b""


def patterns(holds: Holds) -> str:
    """The patterns that a dialog for tables or for records shows: ``*.csv *.tsv ...``."""
    found = [f for f in formats().values() if holds in f.holds]
    return " ".join(f"*{suffix}" for f in found for suffix in f.suffixes)


_FRAME = message(
    "read it in Python (with the extra frames) and hand the data frame over: "
    "tabprotect.Table.from_frame(frame)"
)
_EXPORT = message("save it as CSV, Parquet or Excel from the program that made it")


@dataclass(frozen=True)
class Foreign:
    """A kind of file recognised by the suffixes of its names or by its first bytes."""

    label: str
    suffixes: tuple[str, ...]
    begins: tuple[bytes, ...] = ()
    hint: str = _EXPORT


KINDS = (
    Foreign(message("a project"), (".tabprotect",), hint=message("open it as one")),
    Foreign(
        message("an archive"),
        (".zip",),
        (b"PK\x03\x04",),
        message("open a release bundle as a release, not as a table; take a table out of its archive first"),
    ),
    Foreign(message("a PDF document"), (".pdf",), (b"%PDF-",), message("export the table as CSV or Excel")),
    Foreign(message("a portable SPSS file"), (".por",)),
    Foreign(message("a SAS catalog of labels"), (".sas7bcat",), hint=message("open the data set beside it")),
    Foreign(
        message("a tau-ARGUS description"),
        (".rda", ".hrc", ".cdl", ".hst", ".arb", ".grc"),
        hint=message("open the table (.tab) or the records (.asc) beside it"),
    ),
    Foreign(message("an Arrow or Feather file"), (".feather", ".arrow"), (b"ARROW1", b"FEA1"), _FRAME),
    Foreign(
        message("a pickled Python object"),
        (".pkl", ".pickle"),
        (b"\x80\x02", b"\x80\x03", b"\x80\x04\x95", b"\x80\x05\x95"),
        _FRAME,
    ),
    Foreign(
        message("a DuckDB database"),
        (".duckdb",),
        hint=message('tabulate from it: tabulate "FILE.duckdb#TABLE" --by VARIABLES'),
    ),
    Foreign(message("a database"), (".sqlite", ".db", ".mdb", ".accdb"), (b"SQLite format 3\x00",)),
    Foreign(message("an Avro file"), (".avro",), (b"Obj\x01",), _FRAME),
    Foreign(message("an ORC file"), (".orc",), (b"ORC",), _FRAME),
    Foreign(message("an HDF5 file"), (".h5", ".hdf5"), (b"\x89HDF\r\n",), _FRAME),
    Foreign(message("a NumPy array"), (".npy", ".npz"), (b"\x93NUMPY",), _FRAME),
    Foreign(message("a MATLAB file"), (".mat",), (b"MATLAB 5.0 MAT-file",)),
    Foreign(message("a dBASE file"), (".dbf",)),
    Foreign(
        message("an image"),
        (".png", ".jpg", ".jpeg", ".gif", ".tif", ".tiff"),
        (b"\x89PNG", b"\xff\xd8\xff", b"GIF8"),
        message("get the numbers behind it"),
    ),
    Foreign(message("a web page"), (".html", ".htm"), (b"<!DOCTYPE html", b"<!doctype html", b"<html")),
    Foreign(message("XML, but no SDMX-ML"), (".xml",), (b"<?xml", b"\xef\xbb\xbf<?xml")),
    Foreign(
        "compressed",
        (".bz2", ".xz", ".zst", ".7z"),
        (b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf"),
        message("unpack it first"),
    ),
)

_CONTROL = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f]")
UNKNOWN = Foreign(message("a binary file of a kind that is not known"), ())
"""Bytes that occur in no text, in any encoding of one or two bytes."""


def foreign(path: Path, head: bytes) -> Foreign | None:
    """The kind of a file by its name or first bytes; ``None`` without an indication."""
    for kind in KINDS:
        if path.suffix.lower() in kind.suffixes or head.startswith(kind.begins):
            return kind
    marked = head.startswith((b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b"))
    return None if marked or _CONTROL.search(head) is None or _is_utf_8(head) else UNKNOWN


def _is_utf_8(head: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True
