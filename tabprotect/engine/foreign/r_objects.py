"""Data frames among R's serialized objects, as rdata parses them.

rdata makes data frames of pandas; loading that and xarray takes four times as long as everything else
that a small file takes, so its parser alone is loaded.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import NamedTuple, Protocol

_LATIN1, _UTF8 = 1 << 2, 1 << 3
"""Flags of R's strings."""


class Info(Protocol):
    """The kind of an object."""

    @property
    def type(self) -> object: ...
    @property
    def gp(self) -> int: ...


class Parsed(Protocol):
    """An object as rdata's parser gives it."""

    info: Info
    value: object
    attributes: Parsed | None
    tag: Parsed | None
    referenced_object: Parsed | None


class Column(NamedTuple):
    """A column of a data frame: its values, ``None`` where missing, and a factor's levels."""

    name: str
    values: Sequence[object]
    levels: list[str]


def parser() -> ModuleType:
    """rdata's parser, without what its package loads beside it.

    Raises
    ------
    ImportError
    """
    spec = find_spec("rdata") if "rdata" not in sys.modules else None
    if spec is not None:
        # A package whose own code has not run finds its modules all the same.
        sys.modules["rdata"] = module_from_spec(spec)
    return import_module("rdata.parser")


def data_frame(data: bytes) -> list[Column] | None:
    """The columns of the first data frame of an unpacked file, or of its first table; else ``None``."""
    reading = parser()
    kind = ".rds" if data.startswith(b"X\n") else ".rda"
    with warnings.catch_warnings(action="ignore"):
        parsed = reading.parse_data(data, extension=kind)
    objects = _Objects(reading.RObjectType, parsed.extra.encoding)
    every = list(objects.under(parsed.object))
    for is_one, columns in ((objects.is_frame, objects.columns), (objects.is_table, objects.listed)):
        frame = next((one for one in every if is_one(one)), None)
        if frame is not None:
            return list(columns(frame))
    return None


class _Objects:
    """A parser of R's objects."""

    def __init__(self, kinds: type, encoding: str | None) -> None:
        self._kinds = kinds
        self._encoding = encoding or "ascii"

    def _is(self, one: Parsed, *names: str) -> bool:
        return any(one.info.type is getattr(self._kinds, name) for name in names)

    def under(self, top: Parsed) -> Iterator[Parsed]:
        """The object of a file, and the ones that it lists."""
        yield top
        if self._is(top, "LIST"):
            yield from (one for _, one in self._pairs(top))
        elif self._is(top, "VEC"):
            yield from _objects(top)

    def is_frame(self, one: Parsed) -> bool:
        """Return True if it is a data frame, or a kind of one."""
        return self._is(one, "VEC") and "data.frame" in self._texts(one, "class")

    def columns(self, frame: Parsed) -> Iterator[Column]:
        """The columns of a data frame."""
        names = self._texts(frame, "names")
        rows: int | None = None
        for name, column in zip(names, _objects(frame), strict=True):
            values = self._values(column)
            levels: list[str] = []
            if "factor" in self._texts(column, "class"):
                levels = [text or "" for text in self._texts(column, "levels")]
                # Some writers have 0 where R has no number at all.
                values = [levels[n - 1] if isinstance(n, int) and n > 0 else None for n in values]
            rows = len(values) if rows is None else rows
            if len(values) != rows:
                raise TypeError("a matrix as a column, or columns of different lengths")
            yield Column(name or "", values, levels)

    def is_table(self, one: Parsed) -> bool:
        """Return True for a table: an array of numbers whose dimensions have names."""
        return self._is(one, "INT", "REAL") and self._attribute(one, "dimnames") is not None

    def listed(self, table: Parsed) -> Iterator[Column]:
        """The columns of a table in long form: its variables, and `count`; the first varies fastest."""
        dimensions = self._attribute(table, "dimnames")
        assert dimensions is not None
        orders = [[text or "" for text in self._words(one)] for one in _objects(dimensions)]
        names = self._texts(dimensions, "names") or [None] * len(orders)
        counts = self._values(table)
        each = 1
        for number, (name, order) in enumerate(zip(names, orders, strict=True), 1):
            turn = [text for text in order for _ in range(each)]
            each *= len(order)
            if not order or len(counts) % each:
                raise TypeError("a dimension without names")
            # As R names those that have no name.
            yield Column(name or f"Var{number}", turn * (len(counts) // each), order)
        if each != len(counts):
            raise TypeError("names of other dimensions")
        yield Column("count", counts, [])

    def _values(self, one: Parsed) -> Sequence[object]:
        if self._is(one, "STR"):
            return [self._text(text) for text in _objects(one)]
        if not self._is(one, "LGL", "INT", "REAL"):
            raise TypeError("a column of a kind that holds no single values")
        # Masked where an integer is missing.
        values: list[object] = one.value.tolist()  # type: ignore[attr-defined]
        return values

    def _pairs(self, first: Parsed | None) -> Iterator[tuple[str | None, Parsed]]:
        """The entries of a pairlist, by their tags."""
        while first is not None and self._is(first, "LIST"):
            value, rest = _objects(first)
            yield None if first.tag is None else self._symbol(first.tag), value
            first = rest

    def _symbol(self, one: Parsed) -> str | None:
        if one.referenced_object is not None:
            one = one.referenced_object
        return self._text(one.value) if self._is(one, "SYM") else None  # type: ignore[arg-type]

    def _texts(self, one: Parsed, attribute: str) -> list[str | None]:
        """An attribute that is a vector of texts."""
        return self._words(self._attribute(one, attribute))

    def _attribute(self, one: Parsed, attribute: str) -> Parsed | None:
        return next((value for name, value in self._pairs(one.attributes) if name == attribute), None)

    def _words(self, one: Parsed | None) -> list[str | None]:
        if one is None or not self._is(one, "STR"):
            return []
        return [self._text(text) for text in _objects(one)]

    def _text(self, one: Parsed) -> str | None:
        if one.value is None:
            return None
        encoding = "utf-8" if one.info.gp & _UTF8 else "latin-1" if one.info.gp & _LATIN1 else self._encoding
        data: bytes = one.value  # type: ignore[assignment]
        return data.decode(encoding)


def _objects(one: Parsed) -> Sequence[Parsed]:
    return one.value  # type: ignore[return-value]
