"""Marks in place of counts: blanks, dashes, dots, colons, and the meaning of each."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, get_args

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.text.numerals import NotACountError, parse_count
from tabprotect.languages.messages import message

Meaning = Literal["zero", "missing", "suppressed", "structural"]
MEANINGS: tuple[str, ...] = get_args(Meaning)

HIDDEN = frozenset({"x", "X", "c", "C", "*", "**", "#", "[c]", "[x]", ":c", ": c"})
"""Marks that offices use for suppressed counts: never taken as 0 unless told to."""

DASHES = frozenset({"-", "\u2013", "\u2014"})

USUAL = DASHES | HIDDEN | frozenset(
    {"", ".", "..", "...", "....", ".....", "......", "\u2026", ":",
     "n/a", "NA", "na", "nan", "NaN", "n.a.", "[z]"}
)  # fmt: skip
"""Other marks that offices use in place of counts; the person is asked what they mean."""

_BOUND = re.compile(r"[(\[]?\s*(?:[<>]=?|[\u2264\u2265])\s*[0-9]+\s*[)\]]?")

_RANGE = re.compile(r"[0-9]+\s*[-\u2013]\s*[0-9]+")

BLANK = "blank"

AS_IT_WAS = message(
    "take the table before it was protected: a suppressed count cannot be protected; or, where the totals "
    "tell it: --missing suppressed"
)
"""The remedy for a suppressed count."""


@dataclass(frozen=True)
class CountMarks:
    """Mark -> its meaning, if known.

    ``zero`` is a count of 0; ``structural`` is a structural zero; ``missing`` is a cell that is not
    listed; ``suppressed`` is a hidden count, which no table here can hold.
    """

    meanings: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def parse(cls, text: str | None, *, own: Mapping[str, str] = MappingProxyType({})) -> CountMarks:
        """Parse ``-=zero ..=missing blank=zero``; ``own`` are the format's default meanings.

        Raises
        ------
        InputError
            For a word that is not ``MARK=MEANING``.
        """
        found = dict(own)
        for word in (text or "").split():
            mark, equals, meaning = word.rpartition("=")
            if not equals or not mark or meaning not in MEANINGS:
                raise InputError(
                    message("{word} says of no mark what it means", repr(word)),
                    hint=f"for example -=zero ..=missing blank=zero; meanings: {', '.join(MEANINGS)}",
                )
            found["" if mark == BLANK else mark] = meaning
        return cls(MappingProxyType(found))

    def known(self, text: str) -> bool:
        """Return True if a text stands in place of a count, whatever it means, and for nothing else."""
        return text.strip() in self.meanings or text.strip() in USUAL

    def stands(self, text: str) -> bool:
        """Return True if a text can stand in place of a count: a bound such as ``<5`` can, or be a label."""
        return self.known(text) or is_bound(text)

    def in_count(self, text: str) -> bool:
        """Return True if a text of a count's own field stands in place of it: a range such as ``1-9`` does."""
        return self.stands(text) or _RANGE.fullmatch(text.strip()) is not None

    def meaning(self, text: str) -> str | None:
        """The meaning of a mark, if known."""
        return self.meanings.get(mark_of(text))


def is_bound(text: str) -> bool:
    """Return True for a bound such as ``<5``, with which offices hide small counts."""
    return _BOUND.fullmatch(text.strip()) is not None


def mark_of(text: str) -> str:
    """A mark as it is named in options: without blanks."""
    return "".join(text.split()) if hides(text) else text.strip()


def hides(text: str) -> bool:
    """Return True for a mark that offices use for suppressed counts."""
    return text.strip() in HIDDEN or is_bound(text) or _RANGE.fullmatch(text.strip()) is not None


def count_in(
    text: str,
    marks: CountMarks,
    in_place: Callable[[str], tuple[str, str]] = lambda text: (text, ""),
    *,
    decimal: str | None = None,
    missing_are: str | None = None,
    scale: int | None = None,
) -> int | None:
    """The count that a text, or the mark in place of one, stands for.

    ``None`` if the cell counts as not listed.

    Parameters
    ----------
    in_place
        The mark that this text is, and how the file itself states that the count is suppressed,
        if it does.
    missing_are
        What cells without a count are, if it is said: ``zero``, ``structural``, ``suppressed``.
    scale
        What a count is multiplied by; ``None`` if nobody says it.

    Raises
    ------
    NotACountError
        For text that is no count, a suppressed count, and a mark of unknown meaning.
    """
    if text.strip() and not marks.in_count(text):
        return parse_count(text, decimal=decimal, scale=scale)
    mark, withheld = in_place(text)
    meaning = marks.meaning(mark)
    if missing_are == "suppressed" and meaning in (None, "suppressed"):
        return None
    if meaning == "suppressed" or (meaning is None and withheld):
        shown = withheld or mark.strip() or BLANK
        raise NotACountError(message("the count is suppressed ({shown})", shown), AS_IT_WAS)
    if meaning is None and (missing_are is None or hides(mark)):
        raise NotACountError(
            message("the count is empty")
            if not mark.strip()
            else message("{strip} is not a number", repr(mark.strip())),
            unknown_mark(mark)
            if hides(mark)
            else message(
                "{mark}; or say that missing cells are 0 if they are: --missing zero", unknown_mark(mark)
            ),
        )
    return None if meaning in (None, "missing") else 0


def unknown_mark(text: str) -> str:
    """The remedy for a mark of unknown meaning."""
    mark = mark_of(text) or BLANK
    if hides(mark):
        return message(
            'say what it means: --marks "{mark}=suppressed" (and --missing suppressed, where the totals tell '
            "it), or =missing, =zero, =structural",
            mark,
        )
    return message(
        'say what it means: --marks "{mark}=zero", or =missing, =suppressed, =structural (missing and '
        "suppressed ones are then said by --missing)",
        mark,
    )
