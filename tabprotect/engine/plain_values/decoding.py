"""Plain values (of JSON, of TOML) as typed ones, checked against annotations.

Every wrong field is named at once: its place, the expected value, the value found.
"""

from __future__ import annotations

import json
import math
import reprlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from types import MappingProxyType, NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    Self,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from tabprotect.engine.errors import InputError
from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.languages.messages import joined, message

T = TypeVar("T")

INT64 = 2**63 - 1
MOST_FAULTS = 20
"""Most wrong fields that are named; more do not make the message longer."""

KINDS = {
    int: message("a whole number"),
    float: message("a number"),
    str: "text",
    bool: message("true or false"),
}

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60


class FieldsError(InputError):
    """Values of wrong types. ``fields`` names *all* wrong ones by their paths."""

    def __init__(self, wrong: Mapping[str, str]) -> None:
        super().__init__(
            joined((message("{at}: {why}", at, why) if at else why for at, why in wrong.items()), "; ")
        )
        self.fields = dict(wrong)


@dataclass(frozen=True)
class Between:
    """Closed bounds of a number, or of the length of a text or a list, within ``Annotated``."""

    low: float
    high: float = math.inf


MOST_DIGITS = 18
"""Of a number in a text: any such number fits into 64 bits."""


def natural(text: str) -> int | None:
    """The number that a text of digits is; ``None`` if it is no such text, or a longer one."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS else None


def decoded(
    value: object, kind: type[T], at: str = "", *, among_others: bool = False, any_case: bool = False
) -> T:
    """Convert a plain value to a type: a dataclass, or a type that its fields may have.

    Lists become tuples if the type says so, and whole numbers become floats. Nothing else is
    converted: ``true`` is not a number, a text is not a list, an integer has 64 bits, a float is
    finite.

    Parameters
    ----------
    at
        The path of the value itself; empty for a whole file.
    among_others
        Whether unknown fields of a dataclass are ignored: they belong to somebody else.
    any_case
        Whether fields may be written in letters of either case.

    Raises
    ------
    FieldsError
        Names every wrong, missing and unknown field.
    """
    decoding = Decoding(among_others=among_others, any_case=any_case)
    found: T = decoding.value(value, kind, at)
    if decoding.faults:
        raise FieldsError(decoding.faults)
    return found


class AsWritten(Encodable):
    """A part of a mechanism that is read only where it says, written again, the same."""

    key: ClassVar[str]
    """Where a mechanism states it."""

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Read from a mechanism.

        Raises
        ------
        InputError
            If it is not of the form in which it is written.
        """
        try:
            found = decoded(data, cls)
        except FieldsError:
            found = None
        if found is None or found.as_json() != data:
            raise InputError(message('the mechanism\'s "{KEY}" is not as it was written', cls.key))
        return found


def parsed_json(text: str | bytes) -> object:
    """The value of a JSON text; raises ``InputError`` with the line if it is not JSON."""
    try:
        found: object = json.loads(text)
        return found
    except (ValueError, RecursionError) as error:
        raise InputError(message("not valid JSON"), line=getattr(error, "lineno", None)) from None


def parsed_toml(text: str, what: str) -> dict[str, Any]:
    """The tables of a TOML text that is a policy or a recipe (``what``); raises ``InputError``."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(message("not a valid {what}: {error}", what, error)) from None


LATE: dict[str, object] = {}
"""Types that fields name and their modules do not import: who reads counts does not load magnitudes."""


@cache
def types_of(kind: type) -> Mapping[str, object]:
    """The types of a dataclass's fields by name, in their order."""
    hints = get_type_hints(kind, localns=LATE, include_extras=True)
    return MappingProxyType({field.name: hints[field.name] for field in fields(kind)})


def shown(value: object) -> str:
    """A value shortened for a message."""
    try:
        return _SHORT.repr(value)
    except ValueError:  # more digits than Python writes
        return message("an absurdly large number")


class Decoding:
    """One pass over a plain value; faults are collected in ``faults`` by their paths."""

    widest = INT64

    def __init__(self, *, among_others: bool = False, any_case: bool = False) -> None:
        self._among_others, self._any_case = among_others, any_case
        self.faults: dict[str, str] = {}

    def value(self, given: object, hint: object, at: str) -> Any:
        """The value as its type; meaningless if a fault was found."""
        origin, inner = get_origin(hint), get_args(hint)
        if hint in (object, Any):
            return given
        if origin is Annotated:
            return self._bounded(self.value(given, inner[0], at), inner[1], at)
        if origin in (Union, UnionType):
            return self._either(given, inner, at)
        if origin is Literal:
            return given if given in inner else self.wrong(given, hint, at)
        if isinstance(hint, type) and origin is None:
            into = self.record if is_dataclass(hint) else self.scalar
            return into(given, hint, at)
        assert origin is not None
        if issubclass(origin, Mapping):
            return self._named(given, inner, at)
        return self.listed(given, hint, at)

    def scalar(self, given: object, kind: type, at: str) -> object:
        """A number, a text, or a boolean."""
        if kind is float and type(given) is int:
            given = float(given) if abs(given) <= 2**1023 else math.inf
        if not isinstance(given, kind) or (isinstance(given, bool) and kind is not bool):
            return self.wrong(given, kind, at)
        if isinstance(given, float) and not math.isfinite(given):
            return self.wrong(given, kind, at)
        if isinstance(given, int) and abs(given) > self.widest:
            bits = self.widest.bit_length() + 1
            self.faults[at] = message("must be a whole number of {bits} bits, is {given}", bits, shown(given))
        if isinstance(given, str) and "\x00" in given:
            self.faults[at] = message("holds a NUL character")
        return given

    def record(self, given: object, kind: type, at: str) -> object:
        """A dataclass from its fields by name."""
        if not isinstance(given, Mapping):
            return self.wrong(given, kind, at)
        hints = types_of(kind)
        if self._any_case:
            spelled = {name.lower(): name for name in hints}
            given = {spelled.get(str(name).lower(), name): one for name, one in given.items()}
        for name in () if self._among_others else given:
            if name not in hints and len(self.faults) < MOST_FAULTS:
                self.faults[_within(at, name)] = message("means nothing; there are {hints}", ", ".join(hints))
        for field in fields(kind):
            if field.name not in given and field.default is field.default_factory is MISSING:
                self.faults[_within(at, field.name)] = message("is missing")
        values = {
            name: self.value(given[name], hint, _within(at, name))
            for name, hint in hints.items()
            if name in given
        }
        return None if self.faults else kind(**values)

    def listed(self, given: object, hint: object, at: str) -> object:
        """A list: of one type, or of as many values as there are types."""
        if not isinstance(given, Sequence) or isinstance(given, (str, bytes)):
            return self.wrong(given, hint, at)
        inner = get_args(hint)
        if get_origin(hint) is not tuple or inner[-1] is Ellipsis:
            inner = (inner[0],) * len(given)
        elif len(inner) != len(given):
            return self.wrong(given, hint, at)
        if set(inner) == {str} == set(map(type, given)) and "\x00" not in "".join(given):
            # Lists of categories are long.
            return given if get_origin(hint) is list else tuple(given)
        found = []
        for number, (one, kind) in enumerate(zip(given, inner, strict=True)):
            found.append(self.value(one, kind, f"{at}[{number}]"))
            if len(self.faults) >= MOST_FAULTS:
                break
        return found if get_origin(hint) is list else tuple(found)

    def wrong(self, given: object, hint: object, at: str) -> object:
        """Record a fault for the value, and return it as it is."""
        self.faults[at] = message("must be {hint}, is {given}", _kind(hint), shown(given))
        return given

    def _named(self, given: object, inner: tuple[object, ...], at: str) -> object:
        if not isinstance(given, Mapping):
            return self.wrong(given, Mapping, at)
        found = {}
        for name, one in given.items():
            key = self.value(name, inner[0], _within(at, name))
            found[key] = self.value(one, inner[1], _within(at, name))
            if len(self.faults) >= MOST_FAULTS:
                break
        return found if isinstance(given, dict) else MappingProxyType(found)

    def _either(self, given: object, kinds: tuple[object, ...], at: str) -> object:
        """The value as the first type that fits; else the faults within the one probably meant."""
        if given is None and NoneType in kinds:
            return None
        before, meant = self.faults, None
        kinds = tuple(kind for kind in kinds if kind is not NoneType)
        if len(kinds) == 1:
            return self.value(given, kinds[0], at)
        for kind in kinds:
            self.faults = {}
            found = self.value(given, kind, at)
            if not self.faults:
                self.faults = before
                return found
            meant = self.faults if at not in self.faults and meant is None else meant
        self.faults = before
        if meant is None:
            return self.wrong(given, Union[kinds], at)  # noqa: UP007 (of a tuple)
        before.update(meant)
        return given

    def _bounded(self, found: Any, bounds: Between, at: str) -> object:
        if at in self.faults:
            return found
        if not isinstance(found, (int, float)):
            if not bounds.low <= len(found) <= bounds.high:
                self.faults[at] = message("is too short or too long")
        elif not bounds.low <= found <= bounds.high:
            end = "" if math.isinf(bounds.high) else message(" and at most {high:.15g}", bounds.high)
            self.faults[at] = message(
                "must be at least {low:.15g}{end}, is {found}", bounds.low, end, shown(found)
            )
        return found


def _within(at: str, name: object) -> str:
    text = name if isinstance(name, str) and name.isprintable() else shown(name)
    text = f"{text[:60]}..." if len(text) > 63 else text
    return f"{at}.{text}" if at else text


def _kind(hint: object) -> str:
    """The values of a type, in words."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(_kind(one) for one in inner if one is not NoneType))
    if origin is Literal:
        return message("one of {str}", ", ".join(map(str, inner)))
    if origin is Annotated:
        return _kind(inner[0])
    if hint is Mapping or is_dataclass(hint) or (origin and issubclass(origin, Mapping)):
        return message("named values")
    if origin is tuple and Ellipsis not in inner:
        count = len(inner)
        return message("a list of {count}", count)
    return KINDS[hint] if isinstance(hint, type) and hint in KINDS else message("a list")
