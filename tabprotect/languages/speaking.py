"""The language in force, and the one function through which shown texts go.

English is what the program composes: it is shown as it is, and nothing is loaded for it. JSON,
recipes, bundles and whatever else is read by programs never go through here.
"""

from __future__ import annotations

import locale
import os
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import TypeVar

from tabprotect.languages.catalogue import Catalogue
from tabprotect.languages.number_formats import number_writer
from tabprotect.languages.po import read_po
from tabprotect.languages.pseudo import stretched

ENGLISH = "en"
LANGUAGES: Mapping[str, str] = {ENGLISH: "English", "de": "Deutsch"}
"""Each by its code, with its name in itself."""

PSEUDO = "en-XA"
"""English, two fifths longer: what is cut in it is cut in some language."""

VARIABLE = "TABPROTECT_LANGUAGE"

T = TypeVar("T")

_force: list[Catalogue] = []
_kept: list[object] = []


@cache
def catalogue(language: str) -> Catalogue:
    """The catalogue of a language other than English."""
    pseudo = language == PSEUDO
    name = "de" if pseudo else language
    text = (files("tabprotect.resources") / "languages" / f"{name}.po").read_text("utf-8")
    entries = read_po(text)
    if pseudo:
        return Catalogue(PSEUDO, map(stretched, entries), lambda figure: figure)
    return Catalogue(language, entries, number_writer(language))


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
    """A text of the program as it is shown."""
    return _force[0].told(text) if _force else text


def told_lines(lines: Iterable[str]) -> Iterable[str]:
    """Lines as they are shown; a paragraph may be broken elsewhere."""
    return told("\n".join(lines)).split("\n") if _force else lines


def keep(words: Callable[[T], Iterable[str]], of: T) -> None:
    """Names and labels of what is open: they are shown as they are, whatever they say.

    ``words`` is asked for them where a language is in force, and something else was open before.
    """
    if _force and (not _kept or _kept[0] is not of):
        _kept[:] = [of]
        _force[0].keep(words(of))
