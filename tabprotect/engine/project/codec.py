"""Frozen values as JSON and plain number arrays: written without pickles, read without trust.

Every dataclass that can be reached from a project through its fields' types is a *kind*: its
fields are what is stored, so that a field that is added is saved by itself. What snapshots share
is stored once, arrays beside the JSON by their digest.

A field that is missing takes its default; one that is not known is of another version.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from types import MappingProxyType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

from tabprotect.engine.project.project import Project, checked
from tabprotect.engine.protection.problem import Protected
from tabprotect.engine.tables.groupings.grouping import check_groupings
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table

_HEAD = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '[<|][a-zA-Z][0-9]{1,6}', 'fortran_order': (?:False|True), "
    rb"'shape': \((?:[0-9]{1,18},? ?)*\), \} *\n",
    re.DOTALL,
)
"""How every array begins that was written here (format 1.0 of numpy)."""


def _table(domain: Any, _array: Any, _keys: Any, _values: Any) -> Table:
    return Table.sparse(domain, _keys, _values) if _array is None else Table.dense(domain, _array)


def _moves(
    domain: Any,
    starts: Any,
    cells: Any,
    signs: Any,
    margins: Any,
    groupings: Any = (),
    design: Any = None,
) -> MoveSet:
    if (
        starts.ndim != 1
        or starts[0] != 0
        or starts[-1] != len(cells)
        or (np.diff(starts) < 0).any()
    ):
        raise ValueError("a cycle set is torn")
    check_groupings(domain, groupings)
    grouped = {grouping.name for grouping in groupings}
    for margin in margins:
        domain.project([name for name in margin if name not in grouped])
    moves = MoveSet.of(domain, starts, cells, signs, margins=margins, groupings=groupings)
    return replace(moves, design=design)


def _protected(release: Any, record: Any) -> Protected:
    if record.problem.table.domain != release.domain:
        raise ValueError("a result belongs to another table")
    return Protected(release, record)


BUILD: Mapping[type, Callable[..., object]] = {
    Table: _table,
    MoveSet: _moves,
    Protected: _protected,
    Project: lambda **given: checked(Project(**given)),
}
"""Constructors that check what the class itself takes for granted."""


@cache
def types_of(kind: type) -> dict[str, Any]:
    """The fields of a kind and their types."""
    hints = get_type_hints(kind)
    return {f.name: hints[f.name] for f in fields(kind)}


@cache
def kinds() -> Mapping[str, type]:
    """Every dataclass that can be reached from a project, by name."""
    found: dict[str, type] = {}

    def visit(hint: Any) -> None:
        if isinstance(hint, type) and is_dataclass(hint) and hint.__name__ not in found:
            found[hint.__name__] = hint
            for inner in types_of(hint).values():
                visit(inner)
        for inner in get_args(hint):
            visit(inner)

    visit(Project)
    return found


def is_of_type(value: object, hint: Any) -> bool:
    """Whether a value is of a type, down to the dtype of arrays."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint in (object, Any):
        return True
    if origin in (Union, UnionType):
        return any(is_of_type(value, one) for one in inner)
    if origin is Literal:
        return value in inner
    if origin is np.ndarray:
        dtype = get_args(inner[1])[0]
        return isinstance(value, np.ndarray) and (dtype is Any or np.issubdtype(value.dtype, dtype))
    if origin is tuple and inner[-1] is not Ellipsis:
        return (
            isinstance(value, tuple)
            and len(value) == len(inner)
            and all(is_of_type(one, hint) for one, hint in zip(value, inner, strict=True))
        )
    if origin is not None and issubclass(origin, Mapping):
        return isinstance(value, origin) and all(
            is_of_type(k, inner[0]) and is_of_type(v, inner[1]) for k, v in value.items()
        )
    if origin is not None:
        return isinstance(value, origin) and all(is_of_type(one, inner[0]) for one in value)
    if hint in (int, float) and isinstance(value, bool):
        return False
    return isinstance(value, (int, float) if hint is float else hint)


def held_values(value: object) -> Iterator[object]:
    """What a value holds: fields (and what was computed of them), items, keys."""
    if is_dataclass(value):
        yield from vars(value).values()
    elif isinstance(value, Mapping):
        yield from value
        yield from value.values()
    elif isinstance(value, (tuple, list)):
        yield from value


class Encoder:
    """Collects values: ``shared`` goes into the JSON, ``arrays`` beside it by digest."""

    def __init__(self) -> None:
        self.shared: list[list[Any]] = []
        self.arrays: dict[str, bytes] = {}
        self.size = 0
        self._known: dict[int, int] = {}
        # Identities are only good while their objects live.
        self._alive: list[object] = []

    def put(self, value: object) -> int:
        """The number of a value of some kind among ``shared``."""
        if id(value) not in self._known:
            kind: type = type(value)
            if kinds().get(kind.__name__) is not kind:
                raise TypeError(f"{kind.__name__} is not reached from a project")
            content = {name: self._encode(getattr(value, name)) for name in types_of(kind)}
            self.shared.append([kind.__name__, content])
            self._known[id(value)] = len(self.shared) - 1
            self._alive.append(value)
        return self._known[id(value)]

    def _encode(self, value: object) -> Any:
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, np.ndarray):
            return {"array": self._array(value)}
        if isinstance(value, tuple):
            return [self._encode(one) for one in value]
        if isinstance(value, list):
            return {"list": [self._encode(one) for one in value]}
        if isinstance(value, Mapping):
            tag = "dict" if isinstance(value, dict) else "map"
            return {tag: [[self._encode(k), self._encode(v)] for k, v in value.items()]}
        return {"value": self.put(value)}

    def _array(self, array: npt.NDArray[Any]) -> str:
        out = io.BytesIO()
        np.save(out, np.asarray(array, order="C"), allow_pickle=False)
        data = out.getvalue()
        name = hashlib.sha256(data).hexdigest()
        if name not in self.arrays:
            self.arrays[name] = data
            self.size += len(data)
        return name


class Decoder:
    """Builds values again through constructors that check everything.

    Raises ``KeyError``, ``TypeError``, ``ValueError``, ``IndexError`` or an ``InputError`` for
    data that no encoder wrote; whoever reads a file turns them into one error.
    """

    def __init__(self, shared: Sequence[Any], arrays: Mapping[str, bytes]) -> None:
        self._shared = shared
        self._arrays = arrays
        self._built: dict[int, object] = {}

    def get(self, number: object) -> object:
        """The value of a number among ``shared``."""
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            raise ValueError(f"{number!r} is no number of a value")
        if number not in self._built:
            self._built[number] = self._build(*self._shared[number])
        return self._built[number]

    def project(self, number: object) -> Project:
        """The project of a number."""
        found = self.get(number)
        if not isinstance(found, Project):
            raise TypeError("this is no project")
        return found

    def _build(self, name: str, content: Mapping[str, Any]) -> object:
        kind = kinds()[name]
        if not set(content) <= set(types_of(kind)):
            raise NotImplementedError(f"a {name} of an unknown version")
        given = {field: self._decode(value) for field, value in content.items()}
        for field, hint in types_of(kind).items():
            if field in given and not is_of_type(given[field], hint):
                raise TypeError(f"{name}.{field} is of another type")
        return BUILD.get(kind, kind)(**given)

    def _decode(self, value: Any) -> object:
        if isinstance(value, list):
            return tuple(map(self._decode, value))
        if not isinstance(value, dict):
            return value
        ((tag, content),) = value.items()
        if tag == "array":
            return self._array(content)
        if tag == "list":
            return list(map(self._decode, content))
        if tag in ("dict", "map"):
            found = {self._decode(k): self._decode(v) for k, v in content}
            return found if tag == "dict" else MappingProxyType(found)
        if tag == "value":
            return self.get(content)
        raise ValueError(f"{tag!r} is nothing that is stored")

    def _array(self, name: str) -> npt.NDArray[Any]:
        data = self._arrays[name]
        # numpy reads the head of an array as Python's own text, with faults and warnings of its own.
        if not _HEAD.match(data):
            raise ValueError("an array is damaged")
        try:
            array: npt.NDArray[Any] = np.load(io.BytesIO(data), allow_pickle=False)
        except (EOFError, OverflowError, MemoryError):
            raise ValueError("an array is damaged") from None
        array.flags.writeable = False
        return array
