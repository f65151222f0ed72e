"""What stands in place of a count: blanks, dashes, dots, colons, and what each of them means."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, get_args

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.text.numerals import NotACountError, parse_count
from tabprotect.languages.said import say

Meaning = Literal["zero", "missing", "suppressed", "structural"]
MEANINGS: tuple[str, ...] = get_args(Meaning)

HIDDEN = frozenset({"x", "X", "c", "C", "*", "#", "[c]", "[x]"})
"""What offices write in place of counts that are suppressed: never taken as 0 unless said so."""

DASHES = frozenset({"-", "\u2013", "\u2014"})

USUAL = DASHES | HIDDEN | frozenset(
    {"", ".", "..", "...", "....", ".....", "......", "\u2026", ":",
     "n/a", "NA", "na", "nan", "NaN", "n.a.", "[z]"}
)  # fmt: skip
"""What offices write in place of counts; it is asked what they mean."""

BLANK = "blank"

AS_IT_WAS = say(
    "take the table before it was protected: a suppressed count cannot be protected; or say that it "
    "is missing, and missing cells are 0"
)
"""The remedy for a suppressed count."""


@dataclass(frozen=True)
class CountMarks:
    """Mark -> its meaning, for those of which it is known.

    ``zero`` is a count of 0; ``structural`` is 0, too: nobody can be there; ``missing`` is a cell that
    is not listed; ``suppressed`` is a count that somebody hid, which no table here can hold.
    """

    meanings: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def parse(
        cls, text: str | None, *, own: Mapping[str, str] = MappingProxyType({})
    ) -> CountMarks:
        """``-=zero ..=missing blank=zero``; ``own`` are what a format means by marks otherwise.

        Raises
        ------
        InputError
            For a word that is no mark with a meaning.
        """
        found = dict(own)
        for word in (text or "").split():
            mark, equals, meaning = word.rpartition("=")
            if not equals or not mark or meaning not in MEANINGS:
                raise InputError(
                    say("{word} says of no mark what it means", word=repr(word)),
                    hint=f"for example -=zero ..=missing blank=zero; meanings: {', '.join(MEANINGS)}",
                )
            found["" if mark == BLANK else mark] = meaning
        return cls(MappingProxyType(found))

    def known(self, text: str) -> bool:
        """Whether a text stands in place of a count, whatever it means."""
        return text.strip() in self.meanings or text.strip() in USUAL

    def meaning(self, text: str) -> str | None:
        """What it means, where that is known."""
        return self.meanings.get(text.strip())


def count_in(
    text: str,
    marks: CountMarks,
    in_place: Callable[[str], tuple[str, str]] = lambda text: (text, ""),
    *,
    decimal: str | None = None,
    fill: bool = False,
) -> int | None:
    """The count that a text, or the mark in place of one, stands for.

    ``None`` where the cell is as if it were not listed.

    Parameters
    ----------
    in_place
        The mark that stands in place of a count with this text, and how the file itself says that
        the count is suppressed, if it does.
    fill
        Whether missing cells are taken as 0.

    Raises
    ------
    NotACountError
        For what is no count, a suppressed one, and a mark whose meaning nobody said.
    """
    if text.strip() and not marks.known(text):
        return parse_count(text, decimal=decimal)
    mark, withheld = in_place(text)
    meaning = marks.meaning(mark)
    if meaning == "suppressed" or (meaning is None and withheld):
        shown = withheld or mark.strip() or BLANK
        raise NotACountError(say("the count is suppressed ({shown})", shown=shown), AS_IT_WAS)
    if meaning is None and (not fill or mark.strip() in HIDDEN):
        raise NotACountError(
            say("the count is empty")
            if not mark.strip()
            else say("{strip} is not a number", strip=repr(mark.strip())),
            say(
                "{mark}; or say that missing cells are 0 if they are: --fill-missing",
                mark=unknown_mark(mark),
            ),
        )
    return None if meaning in (None, "missing") else 0


def unknown_mark(text: str) -> str:
    """The remedy for a mark whose meaning nobody said."""
    mark = text.strip() or BLANK
    return say(
        'say what it means: --marks "{mark}=zero", or =missing, =suppressed, =structural', mark=mark
    )
