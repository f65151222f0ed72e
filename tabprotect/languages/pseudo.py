"""A language for trying pages: English with every word two fifths longer."""

from __future__ import annotations

import re

_PIECE = re.compile(r"\{[^}]*\}|<[^>]*>|&[a-z]+;|%\(\w+\)\w|[A-Za-z]+")


def stretched(text: str) -> str:
    """A template, longer; values and marks of HTML stay."""
    return _PIECE.sub(_longer, text)


def _longer(found: re.Match[str]) -> str:
    word = found.group()
    return word if word[0] in "{%<&" else word + word[: -(-2 * len(word) // 5)].lower()
