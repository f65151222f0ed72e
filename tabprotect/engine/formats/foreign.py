"""Kinds of file that are no tables here: what they are, and what to do with them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_EXPORT = "save it as CSV, Parquet or Excel from the program that made it"


@dataclass(frozen=True)
class Foreign:
    """A kind of file, told by the ends of its names or by what it begins with."""

    label: str
    suffixes: tuple[str, ...]
    begins: tuple[bytes, ...] = ()
    hint: str = _EXPORT


KINDS = (
    Foreign("a project", (".tabprotect",), hint="open it as one"),
    Foreign(
        "an archive",
        (".zip",),
        (b"PK\x03\x04",),
        "open a release bundle as a release, not as a table; take a table out of its archive first",
    ),
    Foreign("a PDF document", (".pdf",), (b"%PDF-",), "export the table as CSV or Excel"),
    Foreign("a portable SPSS file", (".por",)),
    Foreign("a SAS catalog of labels", (".sas7bcat",), hint="open the data set beside it"),
    Foreign(
        "a tau-ARGUS description",
        (".rda", ".hrc", ".cdl", ".hst", ".arb", ".grc"),
        hint="open the table (.tab) or the records (.asc) beside it",
    ),
    Foreign("an Arrow or Feather file", (".feather", ".arrow"), (b"ARROW1", b"FEA1")),
    Foreign("a pickled Python object", (".pkl", ".pickle")),
    Foreign("a database", (".duckdb", ".sqlite", ".db"), (b"SQLite format 3\x00",)),
    Foreign("compressed", (".bz2", ".xz", ".zst", ".7z"), hint="unpack it first"),
)


def foreign(path: Path, head: bytes) -> Foreign | None:
    """The kind of a file by its name or its first bytes; ``None`` where nothing speaks for any."""
    for kind in KINDS:
        if path.suffix.lower() in kind.suffixes or head.startswith(kind.begins):
            return kind
    return None
