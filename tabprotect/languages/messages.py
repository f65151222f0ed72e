"""Texts that know how they were made: a sentence's template and values beside its English.

A said text is a ``str``, the finished English sentence: JSON, recipes, bundles and logs hold it as
any other. What it was made of is asked for where it is shown (:func:`~tabprotect.languages.\
speaking.translated`). Values that are plain ``str`` are somebody's own words: no language changes them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from functools import cache
from string import Formatter
from typing import Self, SupportsIndex

Change = tuple[Callable[..., str], tuple[object, ...]]


class Message(str):
    """A text for people, with its template and values.

    Attributes
    ----------
    template
        The English sentence with its values as ``{name}``; ``None`` for parts that stand one after
        the other.
    values
        By name; of parts, each by its number.
    change
        What was done to the finished text (``str.upper``, say), which is done to a translation as
        well; with its further arguments.
    """

    __slots__ = ("change", "template", "values")

    template: str | None
    values: dict[str, object]
    change: Change | None

    def __new__(
        cls, text: str, template: str | None, values: dict[str, object], change: Change | None = None
    ) -> Self:
        made = super().__new__(cls, text)
        made.template, made.values, made.change = template, values, change
        return made

    @property
    def texts(self) -> list[str]:
        """The texts among its values: all of them where it has no template."""
        return [value for value in self.values.values() if isinstance(value, str)]

    def __reduce__(self) -> tuple[object, ...]:
        return Message, (str(self), self.template, self.values, self.change)

    def __str__(self) -> str:
        return str.__str__(self)

    def __add__(self, other: str) -> str:
        return joined((self, other))

    def __radd__(self, other: str) -> str:
        return joined((other, self))

    # What these give keeps its parts; every other method of a text gives a plain one.

    def changed(self, how: Callable[..., str], *arguments: object) -> Message:
        """The text after a function that takes and gives a text."""
        plain = str(self)
        return Message(how(plain, *arguments), None, {"0": self}, (how, arguments))

    def format(self, *parts: object, **values: object) -> str:
        # A template that is kept by a name and gets its values later.
        return str(self).format(*parts) if parts else message(str(self), **values)

    def upper(self) -> str:
        return self.changed(str.upper)

    def lower(self) -> str:
        # Which words begin with a capital is each language's own.
        return Message(str.lower(self), self.template, self.values, self.change)

    def strip(self, letters: str | None = None, /) -> str:
        return self.changed(str.strip, letters)

    def rstrip(self, letters: str | None = None, /) -> str:
        return self.changed(str.rstrip, letters)

    def replace(self, old: str, new: str, count: SupportsIndex = -1, /) -> str:
        return self.changed(str.replace, old, new, count)

    def removesuffix(self, suffix: str, /) -> str:
        return self.changed(str.removesuffix, suffix)

    def removeprefix(self, prefix: str, /) -> str:
        return self.changed(str.removeprefix, prefix)

    def translate(self, table: object, /) -> str:
        return self.changed(str.translate, table)


class Forecast(Message):
    """A stage and how long it takes: said once before it begins, also where no progress is shown.

    Attributes
    ----------
    stage, about
        The stage alone, and how long.
    """

    __slots__ = ("about", "stage")

    stage: str
    about: str

    def __new__(cls, stage: str, about: str) -> Forecast:
        template, values = "{stage} ({about})", {"stage": stage, "about": about}
        made = super().__new__(cls, template.format(**values), template, dict[str, object](values))
        made.stage, made.about = stage, about
        return made

    def __reduce__(self) -> tuple[object, ...]:
        return Forecast, (self.stage, self.about)

    def __str__(self) -> str:
        return str.__str__(self)


def message(template: str, /, *given: object, **values: object) -> str:
    """A text for people: the one way to make it.

    Parameters
    ----------
    template
        In English, a literal (the catalogue is made of them), with values as ``{name}`` or with a
        format, ``{cells:,}``.
    given, values
        What is put in, in the order in which the template names it first, or by name: numbers,
        which a language writes its own way; said texts, which are translated in their turn; plain
        texts, which are names and stay.
    """
    if given:
        values |= zip([name for name in named(template) if name not in values], given, strict=True)
    if values:
        return Message(template.format(**values), template, values)
    if isinstance(template, Message):
        return template
    return Message(template, template, values)


def plural(number: float, one: str, many: str, /, *given: object, **values: object) -> str:
    """The first text for one thing, the second for none and for several.

    Values are given in the order of the second text, which names them all.
    """
    values |= zip([name for name in named(many) if name not in values], given, strict=bool(given))
    return message(one if number == 1 else many, **values)


Forms = tuple[str, str]
"""The templates of a text for one thing, and for none and several."""


def forms(one: str, many: str) -> Forms:
    """The two templates of a text that is kept by a name and gets its values later."""
    return one, many


@cache
def named(template: str) -> tuple[str, ...]:
    """The names of the values in a template, each once."""
    return tuple(dict.fromkeys(name for _, name, _, _ in Formatter().parse(template) if name))


def joined(parts: Iterable[str], between: str = "") -> str:
    """Texts one after the other, each of which is translated by itself."""
    every = list(parts)
    if not any(isinstance(part, Message) for part in (between, *every)):
        return between.join(every)
    pieces = every
    if between:
        pieces = [piece for part in every for piece in (between, part)][1:]
    return Message("".join(map(str, pieces)), None, {str(n): part for n, part in enumerate(pieces)})


FEW_NAMED = 6
"""Names that are told where there may be many; more are counted."""


def some_of(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    shown, more = joined(names[:FEW_NAMED], ", "), len(names) - FEW_NAMED
    return message("{shown} and {more} more", shown, more) if more > 0 else shown


def prose(text: str) -> str:
    """A page of help, such as a module's docstring: each paragraph is a text of its own."""
    paragraphs = text.split("\n\n")
    return joined([Message(one, " ".join(one.split()), {}) for one in paragraphs], "\n\n")


def capital(text: str) -> str:
    """A text with a capital, as the beginning of a sentence; a name it begins with stays as it is."""
    return text.changed(_capital, _leading(text)) if isinstance(text, Message) else _capital(text)


def _leading(text: str) -> str:
    """The name that a text begins with; empty where it begins with words or a number."""
    if not isinstance(text, Message):
        return text
    if not text.values:
        return ""
    if text.template is None:
        return next((_leading(part) for part in text.texts if part), "")
    literal, field, *_ = next(iter(Formatter().parse(text.template)), ("", None))
    value = text.values.get(field or "")
    return _leading(value) if not literal and isinstance(value, str) else ""


def uncapital(text: str) -> str:
    """A text within a sentence: without its capital in English; other languages decide."""
    small = text[:1].lower() + text[1:]
    return Message(small, text.template, text.values, text.change) if isinstance(text, Message) else small


def _capital(text: str, name: str = "") -> str:
    return text if name and text.startswith(name) else text[:1].upper() + text[1:]


MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)


class Day(date):
    """A day, which a language writes its own way; in English ``3 May 2026``, whatever the locale."""

    def __str__(self) -> str:
        return f"{self.day} {MONTHS[self.month - 1]} {self.year}"


def day_said(moment: date) -> str:
    """The day of a moment, for people."""
    return message("{day}", Day(moment.year, moment.month, moment.day))


def in_100(chance: float) -> str:
    """A chance as every sentence writes it: ``48 in 100``; 0 and 100 where it is certain."""
    # Sums of floating point products come within a hair of 0 and 1.
    if 1e-9 < chance < 0.01:
        return message("less than 1 in 100")
    if 0.99 < chance < 1 - 1e-9:
        return message("more than 99 in 100")
    return message("{whole:.0f} in 100", 100 * chance)


def at_most_in_100(chance: float) -> str:
    """An upper bound of a chance, rounded up: ``55 in 100``."""
    return message("{whole:.0f} in 100", math.ceil(100 * chance - 1e-9))


def percent(share: float) -> str:
    """A share in whole per cent as every sentence writes it: ``5 %``, with a space before the unit."""
    return message("{share:.0f} %", 100 * share)
