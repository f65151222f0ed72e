"""The translations of one language, and what becomes of a said text, its numbers and dates in it.

The head of a catalogue holds how the language writes numbers and dates, as the locale data of Unicode (CLDR)
say; `packaging/catalogue.py` writes it. Sentences hold them as English writes them: ``31,577``, ``0.25``,
``.25``, ``12%``, ``3 May 2026``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from numbers import Number
from typing import Any

from tabprotect.languages.messages import MONTHS, Day, Message
from tabprotect.version import RESOURCES

Writer = Callable[[str], str]


class Catalogue:
    """The program's texts in one language.

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

    def translated(self, text: str) -> str:
        """The text in this language; as it is where it is somebody's own words."""
        if not isinstance(text, Message):
            return text
        if text.template is None:
            said = "".join([self.translated(part) for part in text.texts])
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
            return self.translated(value)
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


_NUMBER = re.compile(
    r"(?P<sign>[-+<>~\u2212\u00b1\u2264\u2265]?\s?)(?P<whole>\d{1,3}(?:,\d{3})+|\d*)"
    r"(?:\.(?P<part>\d+))?(?P<percent>\s?%)?"
)
_DAY = re.compile(rf"(?P<day>\d{{1,2}}) (?P<month>{'|'.join(MONTHS)}) (?P<year>\d{{4}})")
_SAID = re.compile(r'msgstr(?:\[\d\])? "(.*)"')
_ESCAPED = re.compile(r"\\(.)")
_MEANT = {"n": "\n", "t": "\t", "r": "\r"}
_QUOTED = {"\\": "\\\\", '"': '\\"', **{sign: f"\\{name}" for name, sign in _MEANT.items()}}


def _text(language: str) -> str:
    return (RESOURCES / "languages" / f"{language}.po").read_text("utf-8")


def head(language: str) -> dict[str, str]:
    """Return what a catalogue says of its language: how it writes numbers and dates, its plural forms."""
    lines = [_meant(line[1:-1]) for line in _text(language).partition("\n\n")[0].splitlines()[2:]]
    said = [line.removesuffix("\n").partition(": ") for line in lines]
    return {name: value for name, _, value in said}


def number_writer(language: str, group: str = "") -> Callable[[str], str]:
    """A function that writes a number or a date of English as the language does.

    Parameters
    ----------
    group
        What is between thousands; empty for the language's own.
    """
    said = head(language)
    decimal, own, percent = (said[f"X-{name}"] for name in ("Decimal", "Group", "Percent"))
    group = group or own
    months = dict(zip(MONTHS, said["X-Months"].split(","), strict=True))

    def written(text: str) -> str:
        day = _DAY.fullmatch(text)
        if day is not None:
            parts = day.groupdict() | {"day": int(day["day"]), "month": months[day["month"]]}
            return said["X-Day"].format(**parts)
        found = _NUMBER.fullmatch(text)
        if found is None or not (found["whole"] or found["part"]):
            return text
        whole = found["whole"].replace(",", group) or "0"
        part = f"{decimal}{found['part']}" if found["part"] else ""
        return f"{found['sign']}{whole}{part}{percent if found['percent'] else ''}"

    return written


class Translations(Mapping[str, str]):
    """The translations of a catalogue, by template.

    Each is read when it is first asked for: the page of a bundle needs a hundred of thousands.
    """

    def __init__(self, language: str) -> None:
        # What is quoted in several lines is one text.
        entries = _text(language).replace('"\n"', "").split('\nmsgid "')
        self._entries = dict(entry.split('"\n', 1) for entry in entries[1:])
        for entry in [one for one in self._entries.values() if one.startswith("msgid_plural")]:
            many, _, said = entry.removeprefix('msgid_plural "').partition('"\n')
            self._entries[many] = said[said.index("msgstr[1]") :]
        self._read: dict[str, str] = {}

    def __getitem__(self, template: str) -> str:
        if template not in self._read:
            said = _SAID.search(self._entries[_quoted(template)])
            self._read[template] = _meant(said[1] if said else "")
        return self._read[template]

    def __iter__(self) -> Iterator[str]:
        return map(_meant, self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def _quoted(text: str) -> str:
    """A text as it stands between quotation marks."""
    for sign, quoted in _QUOTED.items():
        text = text.replace(sign, quoted)
    return text


def _meant(quoted: str) -> str:
    """Say what stands between quotation marks."""
    return _ESCAPED.sub(lambda one: _MEANT.get(one[1], one[1]), quoted) if "\\" in quoted else quoted
