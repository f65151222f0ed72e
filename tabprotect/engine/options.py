"""Options of a command, each declared once; shells and forms take their words from here."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from types import UnionType
from typing import Any, ClassVar, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

from tabprotect.engine.errors import ParameterError
from tabprotect.languages.messages import capital, message

T = TypeVar("T")

Entry = Literal["text", "list", "numbers", "width"]

Measure = Literal["counts", "magnitudes"]
"""What a table holds in its cells."""

MEASURES: Mapping[Measure, str] = {
    "counts": message("goes with tables of counts, and this is one of magnitudes"),
    "magnitudes": message("goes with tables of magnitudes (tabulate --measure), and this is one of counts"),
}


@dataclass(frozen=True)
class Naming:
    """The spelling of a mapping on the command line: ``NAME=VALUE``, once for each name.

    Attributes
    ----------
    sign
        Separator of name and value.
    entry
        Kind of the value: a text, texts or whole numbers separated by commas, or a width: one whole
        number, of which a name may have several.
    behind
        Whether the name stands after the separator.
    """

    sign: str = "="
    entry: Entry = "text"
    behind: bool = False

    def read(self, text: str) -> tuple[str, object]:
        """Split a text into name and value.

        Raises
        ------
        ValueError
            If it is not of this form.
        """
        split = text.partition if self.sign == "=" and not self.behind else text.rpartition
        first, sign, last = split(self.sign)
        name, value = (last, first) if self.behind else (first, last)
        if not sign or not name.strip():
            raise ValueError(message("not of the form {form}: {text}", self.form, repr(text)))
        return name.strip(), self._value(value.strip(), text)

    def _value(self, value: str, text: str) -> object:
        if self.entry == "text":
            return value
        parts = [part.strip() for part in value.split(",")]
        if self.entry == "list":
            if not all(parts):
                raise ValueError(message("not a list of names: {value}", repr(value)))
            return parts
        if self.entry == "width":
            if not value.isdecimal() or len(value) > 18 or int(value) < 1:
                raise ValueError(message("must be a whole number of at least 1: {value}", repr(value)))
            return int(value)
        try:
            return [int(part) for part in parts]
        except ValueError:
            raise ValueError(message("not of the form {form}: {text}", self.form, repr(text))) from None

    @property
    def form(self) -> str:
        """The form, for the message about a text that does not have it."""
        value = {"text": "VALUE", "list": "NAME,NAME,...", "numbers": "CUT,CUT,...", "width": "WIDTH"}
        parts = ["VARIABLE" if self.sign == ":" else "NAME", value[self.entry]]
        return self.sign.join(reversed(parts) if self.behind else parts)

    def words(self, held: Mapping[str, object]) -> Iterator[str]:
        """The command line arguments that state a mapping."""
        for name, value in held.items():
            several = isinstance(value, Sequence) and not isinstance(value, str)
            each = value if several and self.entry == "width" else [value]
            for one in cast("Sequence[object]", each):
                joined = isinstance(one, Sequence) and not isinstance(one, str)
                text = ",".join(map(str, cast("Sequence[object]", one))) if joined else str(one)
                yield self.sign.join((text, name) if self.behind else (name, text))


@dataclass(frozen=True, kw_only=True)
class Option:
    """One option: the field of an :class:`Options`, with what all shells say about it.

    Attributes
    ----------
    name, default
        Of the field; the default of a required one is :data:`dataclasses.MISSING`.
    kinds
        The types that its value may have, without ``None``.
    help
        A phrase for the command line, and a sentence for the library.
    metavar
        Placeholder of the value on the command line.
    shell
        Its word on the command line; empty if it has none.
    library
        Whether the library takes it as a keyword.
    file
        Whether it names a file.
    read
        Makes the value from a text, if neither its type nor ``naming`` says how.
    naming
        How a mapping is written.
    instead_of
        The option that excludes it on the command line.
    second
        The option that is filled if the command line names this one twice.
    repeated
        Whether the command line takes a sequence by repeating the option, so that a text may hold commas.
    measure
        The measure of the tables that take it; ``None`` if all do.
    """

    name: str
    default: object
    kinds: tuple[type, ...]
    help: str
    metavar: str = ""
    shell: str
    library: bool = True
    file: bool = False
    read: Callable[[str], object] | None = None
    naming: Naming | None = None
    instead_of: str = ""
    second: str = ""
    repeated: bool = False
    measure: Measure | None = None

    @property
    def sentence(self) -> str:
        """Its help as a sentence."""
        return f"{capital(self.help)}."


# ``Any``, as in ``dataclasses.field``: the annotation beside it says what the field is.
def option_field(default: object = MISSING, *, shell: str | None = None, **said: Any) -> Any:
    """A field of an :class:`Options`; ``said`` holds the attributes of its :class:`Option`.

    Its word on the command line is its name by default.
    """
    metadata = {"shell": shell, **said}
    return field(default=default, metadata=metadata)


def _kinds(hint: object) -> tuple[type, ...]:
    parts = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    found = (get_origin(part) or part for part in parts)
    return tuple(kind for kind in found if isinstance(kind, type) and kind is not type(None))


def options_of(asked: type[Options]) -> tuple[Option, ...]:
    """The options of a request in the order they are shown: its own, then those it shares."""
    kind: type = asked
    return _options_of(kind)


@cache
def _options_of(asked: type) -> tuple[Option, ...]:
    hints = get_type_hints(asked)
    found, own = [], inspect.get_annotations(asked)
    for one in sorted(fields(asked), key=lambda one: one.name not in own):
        said = dict(one.metadata)
        if said.get("shell") is None:
            said["shell"] = "--" + one.name.replace("_", "-")
        said.setdefault("measure", asked.goes_with)  # type: ignore[attr-defined]
        found.append(Option(name=one.name, default=one.default, kinds=_kinds(hints[one.name]), **said))
    return tuple(found)


@dataclass(frozen=True)
class Options:
    """Arguments of a command as one value: a frozen dataclass of :func:`option_field` fields.

    Attributes
    ----------
    goes_with
        The measure of the tables that take these options, where an option says no other.
    """

    goes_with: ClassVar[Measure | None] = None

    @property
    def given(self) -> dict[str, object]:
        """The options that differ from their defaults."""
        every = ((one, getattr(self, one.name)) for one in options_of(type(self)))
        return {one.name: value for one, value in every if value != one.default}

    def check_measure(self, measure: Measure) -> None:
        """Refuse options that a table of this measure does not take.

        Raises
        ------
        ParameterError
            Naming every one.
        """
        given = self.given
        wrong = {
            one.name: MEASURES[one.measure]
            for one in options_of(type(self))
            if one.name in given and one.measure not in (None, measure)
        }
        if wrong:
            raise ParameterError(wrong)

    def words(self) -> list[str]:
        """The same as command line arguments."""
        out: list[str] = []
        for one in options_of(type(self)):
            value = getattr(self, one.name)
            if not one.shell or value == one.default:
                continue
            if value is True:
                out.append(one.shell)
            elif one.naming is not None:
                out += [part for text in one.naming.words(value) for part in (one.shell, text)]
            elif isinstance(value, Sequence) and not isinstance(value, str):
                said = map(str, value) if one.repeated else [",".join(map(str, value))]
                out += [part for text in said for part in (one.shell, text)]
            else:
                out += [one.shell, str(value)]
        return out
