"""Declared parameters: the form, the command line, the help and the checks follow from them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar, overload

from tabprotect.engine.errors import ParameterError
from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.languages.messages import message
from tabprotect.languages.nearest import closest_match

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

Kind = Literal[
    "real",
    "integer",
    "choice",
    "flag",
    "cycles",
    "formula",
    "groupings",
    "perturbation",
    "statuses",
    "cells",
    "setting",
    "chances",
    "matrices",
    "text",
]


@dataclass(frozen=True)
class Shares:
    """Two parameters that are shares of one whole: together at most 1, the rest is a third share.

    Attributes
    ----------
    words
        The meanings of the first, the second and the third share, in a word each.
    rest
        The name of the third share.
    """

    words: tuple[str, str, str]
    rest: str


@dataclass(frozen=True)
class Parameter(Encodable, Generic[T_co]):
    """One parameter of a method: ``Parameter[int]`` if its resolved value is a whole number.

    Attributes
    ----------
    name, label, help
        The name in files and on the command line, the label on a form, one sentence of help.
    kind
        ``real``, ``integer``, ``choice``, ``flag``, ``text``; ``cycles`` (a cycle set or its
        file), ``perturbation`` (a perturbation table or its file), ``formula`` (published
        sub-tables), ``groupings`` (of categories), ``statuses`` (of cells), ``cells`` (named by
        categories) and ``setting`` (a method with its parameters), all as text.
    default
        The value if none is given.
    low, high
        Closed bounds of a number.
    choices
        Maps a value to its meaning in words.
    unit
        For example ``"probability"`` or ``"passes"``.
    public
        Whether the value is part of the release (else it is confidential).
    shares
        The whole of which it is a share, together with the one other parameter that declares it.
    in_place_of
        A parameter that this one replaces: only one of the two may differ from its default.
    may_be_unstated
        Whether a mechanism leaves the value out if it is ``None``.
    of
        The parameter that this one refines: a form shows it on demand.
    """

    name: str
    label: str
    help: str
    kind: Kind
    default: object = None
    low: float = -math.inf
    high: float = math.inf
    choices: Mapping[str, str] | None = None
    unit: str = ""
    public: bool = True
    shares: Shares | None = None
    in_place_of: str = ""
    may_be_unstated: bool = False
    of: str = ""
    json_keys = "name label help kind default low high choices unit public"

    def check(self, value: object) -> object:
        """Check a value and return it in its own type.

        Raises
        ------
        ValueError
            With the reason in words.
        """
        if value is None and self.default is None:
            return None
        if self.kind in ("real", "integer"):
            number = self._number(value)
            if not self.low <= number <= self.high:
                if self.high == math.inf:
                    raise ValueError(message("must be at least {low:g}, is {value}", self.low, value))
                raise ValueError(
                    message("must be between {low:g} and {high:g}, is {value}", self.low, self.high, value)
                )
            return number
        if self.kind == "choice":
            assert self.choices is not None
            if not isinstance(value, str | int) or value not in self.choices:
                raise ValueError(
                    message(
                        "must be one of {choices}, is {value}", ", ".join(map(str, self.choices)), repr(value)
                    )
                )
        if self.kind == "flag":
            return self._flag(value)
        if self.kind in (
            "formula",
            "groupings",
            "statuses",
            "cells",
            "setting",
            "chances",
            "matrices",
            "text",
        ) and not isinstance(value, str | None):
            raise ValueError(message("must be text, is {value}", repr(value)))
        return value

    def _flag(self, value: object) -> bool:
        known = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value.lower() in known:
            return known[value.lower()]
        raise ValueError(message("must be yes or no, is {value}", repr(value)))

    def _number(self, value: object) -> float | int:
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            raise ValueError(message("must be a number, is {value}", repr(value)))
        try:
            number = float(value)
        except ValueError:
            raise ValueError(message("must be a number, is {value}", repr(value))) from None
        except OverflowError:
            raise ValueError(message("must be a finite number")) from None
        if not math.isfinite(number):
            raise ValueError(message("must be a finite number, is {value}", value))
        if self.kind == "real":
            return number
        if number != int(number):
            raise ValueError(message("must be a whole number, is {value}", value))
        return int(number)


class Values(Mapping[str, object]):
    """Resolved parameters, read-only: typed when indexed by :class:`Parameter`, any object by name.

    ``values | {name: value}`` is a copy with some values changed.

    Attributes
    ----------
    asked
        What was given for them, from which others may follow once one is changed; the values
        themselves where that is not said.
    """

    __slots__ = ("_held", "asked")

    def __init__(self, held: Mapping[str, object], asked: Mapping[str, object] | None = None) -> None:
        self._held = dict(held)
        self.asked: Mapping[str, object] = self._held if asked is None else asked

    @overload
    def __getitem__(self, key: str) -> object: ...

    @overload
    def __getitem__(self, key: Parameter[T]) -> T: ...

    def __getitem__(self, key: str | Parameter[T]) -> object:
        """The value; the method guarantees that the parameter's type is that of the value."""
        return self._held[key.name if isinstance(key, Parameter) else key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def __or__(self, changed: Mapping[str, object]) -> Values:
        return Values({**self._held, **changed})

    def __repr__(self) -> str:
        return f"Values({', '.join(self._held)})"


def resolve(parameters: Iterable[Parameter[object]], given: Mapping[str, object]) -> Values:
    """Complete the given values by defaults; every wrong field is reported at once.

    Raises
    ------
    ParameterError
        With all unknown names and all values out of bounds.
    """
    declared = {parameter.name: parameter for parameter in parameters}
    wrong = {
        name: message("unknown here; it is an option of its own: --rule {rule}", given[name])
        if name == "rule"
        else message("unknown; there are {declared}", ", ".join(declared))
        for name in given
        if name not in declared
    }
    values: dict[str, object] = {}
    for name, parameter in declared.items():
        if name not in given:
            values[name] = parameter.default
            continue
        try:
            values[name] = parameter.check(given[name])
        except ValueError as error:
            wrong[name] = str(error)
    for name, parameter in declared.items():
        other = declared.get(parameter.in_place_of)
        if other is None or wrong.keys() & {name, other.name}:
            continue
        # Filled in at its least, the other one says nothing.
        said = values[other.name] not in (other.default, other.low)
        if said and values[name] != parameter.default:
            labels = message("{lower} and {lower2}", parameter.label.lower(), other.label.lower())
            wrong[name] = message("{labels} exclude each other", labels)
    if wrong:
        strange = next((name for name in given if name not in declared), None)
        raise ParameterError(wrong, hint="" if strange is None else closest_match(strange, declared))
    return Values(values)
