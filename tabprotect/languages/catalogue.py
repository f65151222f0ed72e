"""The translations of one language, and what becomes of a said text in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib.resources import files
from numbers import Number
from typing import Any

from tabprotect.languages.said import Day, Said

Writer = Callable[[str], str]


class Catalogue:
    """What the program says, in one language.

    Parameters
    ----------
    language
        Its code, as in ``<html lang>``.
    translations
        The translation of each template; one without is shown in English.
    figures
        Writes a number of English as the language does.
    """

    def __init__(self, language: str, translations: Mapping[str, str], figures: Writer) -> None:
        self.language = language
        self._translations = translations
        self._figures = figures

    def told(self, text: str) -> str:
        """The text in this language; as it is where it is somebody's own words."""
        if not isinstance(text, Said):
            return text
        if text.template is None:
            said = "".join([self.told(part) for part in text.texts])
        else:
            said = self._translations.get(text.template) or text.template
            if text.values:
                said = said.format(**{n: self._value(v) for n, v in text.values.items()})
        if text.change is not None:
            how, arguments = text.change
            said = how(said, *arguments)
        return said

    def _value(self, value: object) -> object:
        if isinstance(value, str):
            return self.told(value)
        number = isinstance(value, Number | Day) and not isinstance(value, bool)
        return _Figure(value, self._figures) if number else value


class _Figure:
    """A number or a day within a template, which is written as the language does."""

    def __init__(self, number: Any, writer: Writer) -> None:
        self._number, self._writer = number, writer

    def __format__(self, form: str) -> str:
        return self._writer(format(self._number, form))

    def __str__(self) -> str:
        return self._writer(str(self._number))


_PART = re.compile(
    r'^msg(id|id_plural|str|str\[\d\]) ((?:"(?:[^"\\]++|\\.)*+"\s*+)++)', re.MULTILINE
)
_ESCAPED = re.compile(r"\\(.)")
_MEANT = {"n": "\n", "t": "\t", "r": "\r"}


def _text(language: str) -> str:
    return (files("tabprotect.resources") / "languages" / f"{language}.po").read_text("utf-8")


def head(language: str) -> dict[str, str]:
    """What a catalogue says of its language: how it writes numbers and dates, its plural forms."""
    lines = [_meant(line) for line in _text(language).partition("\n\n")[0].splitlines()[2:]]
    said = [line.removesuffix("\n").partition(": ") for line in lines]
    return {name: value for name, _, value in said}


def translations(language: str) -> dict[str, str]:
    """What the catalogue of a language holds: the translation of each template.

    Read here: every bundle's page needs them, and a reader of whole catalogues takes three times as long.
    """
    text = _text(language)
    templates: list[str] = []
    said: list[str] = []
    found: dict[str, str] = {}
    for part in _PART.finditer(text):
        kind, quoted = part.groups()
        if kind == "id":
            found |= zip(templates, said, strict=False)
            templates, said = [], []
        (templates if kind.startswith("id") else said).append(_meant(quoted))
    found |= zip(templates, said, strict=False)
    found.pop("", None)
    return found


def _meant(quoted: str) -> str:
    """What stands between the quotation marks of one line or several."""
    text = quoted.strip()[1:-1]
    if "\n" in text:
        text = "".join([line.strip()[1:-1] for line in quoted.split("\n")])
    return _ESCAPED.sub(lambda one: _MEANT.get(one[1], one[1]), text) if "\\" in text else text
