"""A language for trying pages: English with every word two fifths longer."""

from __future__ import annotations

import re

from tabprotect.languages.po import PoEntry

_PIECE = re.compile(r"\{\w+\}|%\(\w+\)\w|[A-Za-z]+")


def stretched(entry: PoEntry) -> PoEntry:
    """An entry whose translation is its text, longer."""
    return PoEntry(entry.text, _PIECE.sub(_longer, entry.text), entry.where)


def _longer(found: re.Match[str]) -> str:
    word = found.group()
    return word if word[0] in "{%" else word + word[: -(-2 * len(word) // 5)].lower()
