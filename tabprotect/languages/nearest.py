"""The known word that a mistyped one was meant to be."""

from __future__ import annotations

from collections.abc import Iterable

from tabprotect.languages.messages import message


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word most like this one, or the first that it is a part of; empty if none is."""
    return next(iter(_near(word, known, 1)), "")


def _near(word: str, known: Iterable[str], most: int) -> list[str]:
    # Only a mistake pays for it.
    from difflib import get_close_matches

    folded = {one.casefold(): one for one in known}
    plain = word.casefold()
    found = get_close_matches(plain, folded, n=most, cutoff=0.6)
    found = found or [one for one in folded if plain in one and len(plain) > 2]
    return [folded[one] for one in found[:most]]


def closest_match(word: str, known: Iterable[str], most: int = 1) -> str:
    """The question whether the nearest word, or one of the nearest, was meant; empty if none is near."""
    found = _near(word, known, most)
    return message("did you mean {found}?", " or ".join(found)) if found else ""
