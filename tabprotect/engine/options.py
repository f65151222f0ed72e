"""Options of a command, each declared once; shells, library, forms and verbs take their words from here."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from types import UnionType
from typing import Any, ClassVar, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from tabprotect.engine.errors import ParameterError
from tabprotect.engine.parameters import Kind, Parameter
from tabprotect.languages.messages import capital, joined, message

T = TypeVar("T")

Entry = Literal["text", "list", "numbers", "width"]

Measure = Literal["counts", "magnitudes"]
"""What a table holds in its cells."""

REASON = "REASON"
"""Stands in a command line for a reason, which nobody's program fills in."""

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
class Option(Parameter[object]):
    """One option: the field of an :class:`Options`, a parameter with what all shells say about it.

    Attributes
    ----------
    default
        Of the field; that of a required one is :data:`dataclasses.MISSING`.
    kinds
        The types that its value may have, without ``None``.
    help
        A phrase for the command line, and a sentence for the library.
    metavar
        Placeholder of the value on the command line.
    shell
        Its word on the command line, and further ones behind spaces; empty if it has none.
    position
        Whether the command line takes it by its place, without a word.
    group
        The heading under which the help of a command lists it.
    measure
        The measure of the tables that take it; ``None`` if all do.
    required
        Whether the command line wants it or the option that excludes it.
    needs
        The option without which it says nothing: ``NAME``, or ``NAME=VALUE``.
    library
        Whether the library takes it as a keyword.
    file
        Whether it names a file.
    read
        Makes the value from a text, if neither its type nor ``naming`` says how.
    naming
        How a mapping is written.
    second
        The option that is filled if the command line names this one twice.
    repeated
        Whether the command line takes a sequence by repeating the option, so that a text may hold commas.
    several
        Whether the command line takes a sequence as words that follow the option.
    bare
        The value of an option that stands without one.
    usual
        What it may say, in words, where other values are taken, too: a form offers these.
    """

    label: str = ""
    kind: Kind = "text"
    kinds: tuple[type, ...]
    metavar: str = ""
    shell: str
    position: bool = False
    group: str = ""
    measure: Measure | None = None
    required: bool = False
    needs: str = ""
    library: bool = True
    file: bool = False
    read: Callable[[str], object] | None = None
    naming: Naming | None = None
    second: str = ""
    repeated: bool = False
    several: bool = False
    bare: object = None
    usual: Mapping[str, str] | None = None

    @property
    def offered(self) -> dict[str, str]:
        """What a form offers, in words: every choice, or what is usual."""
        every = self.choices or self.usual or {}
        return {str(value): words or str(value) for value, words in every.items()}

    @property
    def sentence(self) -> str:
        """Its help as a sentence."""
        return joined((capital(self.help), "."))

    @property
    def limited(self) -> bool:
        """Return True if not every value of its type is taken."""
        numbers = self.low > -math.inf or self.high < math.inf
        return self.choices is not None or numbers or self.metavar == REASON

    def check(self, value: object) -> object:
        """Check as any parameter's; a reason is in somebody's own words."""
        if self.metavar == REASON and str(value).strip("'\" ").upper() == REASON:
            raise ValueError(message("REASON stands for a reason in your own words"))
        return super().check(value)

    @property
    def word(self) -> str:
        """What a message calls it: its first word on the command line."""
        return self.shell.partition(" ")[0] or self.metavar or self.name


# ``Any``, as in ``dataclasses.field``: the annotation beside it says what the field is.
def option_field(default: object = MISSING, *, shell: str | None = None, **said: Any) -> Any:
    """A field of an :class:`Options`; ``said`` holds the attributes of its :class:`Option`.

    Its word on the command line is its name by default.
    """
    metadata = {"shell": shell, "help": "", **said}
    return field(default=default, metadata=metadata)


def position(default: object = MISSING, **said: Any) -> Any:
    """A field of an :class:`Options` that the command line takes by its place."""
    return option_field(default, shell="", position=True, **said)


@dataclass(frozen=True)
class Part:
    """Options of several commands, as one field of another :class:`Options`.

    Attributes
    ----------
    name, kind
        The field, and its class.
    group
        The heading of those that have none of their own.
    about
        What the help of a command says below the heading.
    but
        Options that this command does not offer, or in other words.
    help
        What is said of an option instead.
    needs
        The option of the other request without which they say nothing.
    """

    name: str
    kind: type[Options]
    group: str = ""
    about: Callable[[], str] | None = None
    but: Sequence[str] = ()
    help: Mapping[str, str] | None = None
    needs: str = ""


def part(kind: type[Options], **said: Any) -> Any:
    """A field that holds options of several commands; ``said`` holds attributes of its :class:`Part`."""
    needs = any(one.default is MISSING for one in options_of(kind))
    factory = MISSING if needs else kind
    return field(default_factory=factory, metadata={"part": (kind, said)})  # type: ignore[arg-type]


KINDS: Mapping[type, Kind] = {int: "integer", float: "real", bool: "flag"}


def _parts(hint: object) -> tuple[object, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _kinds(hint: object) -> tuple[type, ...]:
    found: list[object] = []
    for one in _parts(hint):
        origin = get_origin(one)
        found.append(type(get_args(one)[0]) if origin is Literal else origin or one)
        # What a sequence holds, where it is no text.
        found += [held for held in get_args(one) if origin is Sequence and held is not str]
    return tuple(kind for kind in found if isinstance(kind, type) and kind is not type(None))


def _choices(hint: object) -> tuple[object, ...] | None:
    """The values of an annotation that lists them."""
    return next((get_args(part) for part in _parts(hint) if get_origin(part) is Literal), None)


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
        if "part" in said:
            continue
        if said["shell"] is None:
            said["shell"] = "--" + one.name.replace("_", "-")
        kinds = _kinds(hints[one.name])
        said.setdefault("measure", asked.goes_with)  # type: ignore[attr-defined]
        said["kind"] = next((KINDS[kind] for kind in kinds if kind in KINDS), "text")
        if (choices := said.get("choices") or _choices(hints[one.name])) is not None:
            said |= {
                "kind": "choice",
                "choices": dict(choices) if isinstance(choices, Mapping) else dict.fromkeys(choices, ""),
            }
        found.append(Option(name=one.name, default=one.default, kinds=kinds, **said))
    return tuple(found)


def option_named(asked: type[Options], name: str) -> Option:
    """The option of a request that has this name."""
    return next(one for one in options_of(asked) if one.name == name)


def parts_of(asked: type[Options]) -> tuple[Part, ...]:
    """The options that a request shares with others, each as one value."""
    held = ((one.name, one.metadata["part"]) for one in fields(asked) if "part" in one.metadata)
    return tuple(Part(name, kind, **said) for name, (kind, said) in held)


@dataclass(frozen=True)
class Options:
    """Arguments of a command as one value: a frozen dataclass of :func:`option_field` fields.

    Attributes
    ----------
    goes_with
        The measure of the tables that take these options, where an option says no other.

    Raises
    ------
    ParameterError
        With every value out of its bounds.
    """

    goes_with: ClassVar[Measure | None] = None

    def __post_init__(self) -> None:
        wrong = {}
        for one in options_of(type(self)):
            value = getattr(self, one.name)
            if not one.limited or value is None or value == one.default:
                continue
            each = [value] if Sequence not in one.kinds else value
            try:
                for entry in each:
                    one.check(entry)
            except ValueError as error:
                wrong[one.name] = str(error)
        if wrong:
            raise ParameterError(wrong)

    @property
    def given(self) -> dict[str, object]:
        """The options that differ from their defaults."""
        every = ((one, getattr(self, one.name)) for one in options_of(type(self)))
        return {one.name: value for one, value in every if value != one.default}

    def check_given(self, measure: Measure) -> None:
        """Refuse options that a table of this measure does not take, or that say nothing beside the others.

        Raises
        ------
        ParameterError
            Naming every one.
        """
        wrong = {one.name: message("goes with {needed}", needed) for one, needed in self.idle()}
        wrong |= {one.name: MEASURES[one.measure] for one in self.beside(measure) if one.measure is not None}
        if wrong:
            raise ParameterError(wrong)

    def stated(self) -> list[Option]:
        """The options that are given, with those of its parts."""
        given = self.given
        found = [one for one in options_of(type(self)) if one.name in given]
        for part in parts_of(type(self)):
            found += getattr(self, part.name).stated()
        return found

    def beside(self, measure: Measure) -> list[Option]:
        """The given options that a table of this measure does not take."""
        return [one for one in self.stated() if one.measure not in (None, measure)]

    def idle(self) -> list[tuple[Option, str]]:
        """The given options that say nothing, each with the words of what it goes with."""
        given = self.given
        every = {one.name: one for one in options_of(type(self))}
        asked = [(one.needs, [one]) for one in every.values() if one.name in given]
        parts = [(part.needs, getattr(self, part.name)) for part in parts_of(type(self))]
        asked += [(needs, part.stated()) for needs, part in parts]
        found = []
        for needs, said in asked:
            name, _, value = needs.partition("=")
            if needs and (name not in given if not value else value != str(getattr(self, name))):
                found += [(one, f"{every[name].word} {value}".strip()) for one in said]
        for _, part in parts:
            found += part.idle()
        return found

    def words(self) -> list[str]:
        """The same as command line arguments."""
        out: list[str] = []
        for one in options_of(type(self)):
            value = getattr(self, one.name)
            if not one.shell or value == one.default:
                continue
            if value is True:
                out.append(one.word)
            elif one.naming is not None:
                out += [part for text in one.naming.words(value) for part in (one.word, text)]
            elif isinstance(value, Sequence) and not isinstance(value, str):
                said = map(str, value) if one.repeated else [",".join(map(str, value))]
                out += [part for text in said for part in (one.word, text)]
            else:
                out += [one.word, str(value)]
        return out
