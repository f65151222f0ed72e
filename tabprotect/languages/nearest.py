"""The known word that a mistyped one was meant to be."""

from __future__ import annotations

from collections.abc import Iterable

from tabprotect.languages.messages import message


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word most like this one, or the first that it is a part of; empty if none is."""
    # Only a mistake pays for it.
    from difflib import get_close_matches

    folded = {one.casefold(): one for one in known}
    plain = word.casefold()
    found = get_close_matches(plain, folded, n=1, cutoff=0.6)
    found = found or [one for one in folded if plain in one and len(plain) > 2]
    return folded[found[0]] if found else ""


def closest_match(word: str, known: Iterable[str]) -> str:
    """The question whether the nearest word was meant; empty if none is near."""
    found = nearest(word, known)
    return message("did you mean {found}?", found) if found else ""
