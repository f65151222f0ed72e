"""The registered formats: every file in ``kinds/``; which of them a file is."""

from __future__ import annotations

import pkgutil
from functools import cache
from pathlib import Path

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats import kinds as package
from tabprotect.engine.formats.foreign import foreign
from tabprotect.engine.formats.format import Format, Holds
from tabprotect.engine.formats.text.opening import check_file
from tabprotect.engine.registry import Registry

HEAD = 4096
"""Bytes that are looked at to tell a format."""

TEXT = "csv"
"""What a file is taken for that nothing else speaks for."""


@cache
def formats() -> Registry[Format]:
    """Every registered format by the name of its module."""
    return Registry(package, Format, "format")


def format_names() -> tuple[str, ...]:
    """The names of all formats, without importing any: for the help of the command line."""
    found = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    return tuple(name.replace("_", "-") for name in found)


def named(name: str) -> Format:
    """A format by its name.

    Raises
    ------
    ParameterError
        For an unknown one.
    """
    return formats()[name.replace("-", "_")]


def by_suffix(path: Path) -> Format | None:
    """The format that the name of a file says, read or to be written; ``t.csv.gz`` is text."""
    name = path.name.lower()
    name = name.removesuffix(".gz") if "." in name.removesuffix(".gz") else name
    found = [(len(s), f) for f in formats().values() for s in f.suffixes if name.endswith(s)]
    return max(found, key=lambda pair: pair[0])[1] if found else None


def format_of(path: Path) -> Format:
    """The format of a file: what it begins with, else what its name says, else text.

    Raises
    ------
    InputError
        For what is no regular file, and for a kind of file that is known to be something else.
    """
    head = _head(path)
    said = next((f for f in formats().values() if f.sniff(head)), None) or by_suffix(path)
    if said is not None and not said.accepts(path, head):
        said = None
    if said is None or said.name == TEXT:
        other = foreign(path, head)
        if other is not None:
            raise InputError(f"not a table file: {other.label}", file=path, hint=other.hint)
    check_file(path)
    if said is not None and path.suffix.lower() == ".gz" and not said.packed:
        raise InputError(
            f"{said.label} files are not read packed", file=path, hint="unpack it first: gunzip"
        )
    return said or named(TEXT)


def _head(path: Path) -> bytes:
    """The first bytes of a file; none of what cannot be read."""
    try:
        check_file(path)
        with path.open("rb") as file:
            return file.read(HEAD)
    except (InputError, OSError):
        # The name may still tell what it was meant to be.
        return b""


def patterns(holds: Holds) -> str:
    """``*.csv *.tsv ...``: what a dialog for tables or for records shows."""
    found = [f for f in formats().values() if holds in f.holds]
    return " ".join(f"*{suffix}" for f in found for suffix in f.suffixes)
