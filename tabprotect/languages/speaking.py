"""The language in force, and the functions through which shown texts go.

English is what a said text is: it is shown as it is, and nothing is loaded for it. JSON, recipes,
bundles and whatever else is read by programs never go through here.
"""

from __future__ import annotations

import locale
import os
import re
from collections.abc import Mapping
from functools import cache

from tabprotect.languages.catalogue import Catalogue, translations
from tabprotect.languages.number_formats import number_writer
from tabprotect.languages.said import say

_PIECE = re.compile(r"\{[^}]*\}|<[^>]*>|&[a-z]+;|%\(\w+\)\w|[A-Za-z]+")


def stretched(text: str) -> str:
    """A template, longer; values and marks of HTML stay."""
    return _PIECE.sub(_longer, text)


def _longer(found: re.Match[str]) -> str:
    word = found.group()
    return word if word[0] in "{%<&" else word + word[: -(-2 * len(word) // 5)].lower()


ENGLISH = "en"
LANGUAGES: Mapping[str, str] = {ENGLISH: "English", "de": "Deutsch"}
"""Each by its code, with its name in itself."""

PSEUDO = "en-XA"
"""English, two fifths longer: what is cut in it is cut in some language."""

VARIABLE = "TABPROTECT_LANGUAGE"

_force: list[Catalogue] = []


@cache
def catalogue(language: str) -> Catalogue:
    """The catalogue of a language other than English."""
    if language == PSEUDO:
        return Catalogue(PSEUDO, {text: stretched(text) for text in translations("de")}, str)
    return Catalogue(language, translations(language), number_writer(language))


def known(language: str) -> str:
    """The language of a code like ``de_AT.UTF-8``; English where there is no catalogue for it."""
    code = language if language == PSEUDO else re.split("[-_.@]", language)[0].lower()
    return code if code in LANGUAGES or code == PSEUDO else ENGLISH


def of_environment(environment: Mapping[str, str] | None = None) -> str:
    """The language that the environment asks for, as gettext reads it, our own variable first."""
    given = os.environ if environment is None else environment
    if given.get(VARIABLE):
        return known(given[VARIABLE])
    said = next((given[n] for n in ("LC_ALL", "LC_MESSAGES", "LANG") if given.get(n)), "")
    if said.partition(".")[0] in ("C", "POSIX"):
        return ENGLISH
    if not said and environment is None:
        # Windows and macOS say it otherwise.
        said = locale.getlocale()[0] or ""
    wanted = [*given.get("LANGUAGE", "").split(":"), said] if said else []
    # English is also what an unknown language gives: it counts where it is named.
    spoken = (w for w in wanted if known(w) != ENGLISH or w.lower().startswith(ENGLISH))
    return next(map(known, spoken), ENGLISH)


def speak(language: str) -> None:
    """Show texts in this language from here on."""
    _force[:] = [] if language == ENGLISH else [catalogue(language)]


def language() -> str:
    """The code of the language in force, for ``<html lang>``."""
    return _force[0].language if _force else ENGLISH


def told(text: str) -> str:
    """A said text as it is shown; anything else is somebody's own words and stays."""
    return _force[0].told(text) if _force else text


def tell(template: str, /, *given: object, **values: object) -> str:
    """A text that is shown where it is said: ``told(say(...))``."""
    return told(say(template, *given, **values))
