"""Cells that hold a count beside a share, as tables of medicine print them: ``3 (1.7%)``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from types import MappingProxyType

from tabprotect.engine.errors import InputError
from tabprotect.languages.messages import message

_COUNT = (
    r"(?P<n>[+-]?\d[\d.,'\u2019\u00a0\u202f\u2009 ]*?|[<>\u2264\u2265]=?\s*\d+|[-\u2013\u2014*:xXcC]|\.\.?)"
)
"""A count, or the mark in its place."""
_SHARE = r"(?:[<>\u2264]?\s*\d[\d.,]*|NA|NaN|-|\u2013)"
_OF = r"\d[\d.,'\u2019\u00a0\u202f\u2009 ]*"
FORMS = MappingProxyType(
    {
        "n (%)": re.compile(rf"\s*{_COUNT}\s*[(\[]\s*{_SHARE}\s*%?\s*[)\]]\s*"),
        "% (n)": re.compile(rf"\s*{_SHARE}\s*%?\s*[(\[]\s*{_COUNT}\s*[)\]]\s*"),
        "n/N": re.compile(rf"\s*{_COUNT}\s*/\s*{_OF}\s*"),
        "n/N (%)": re.compile(rf"\s*{_COUNT}\s*/\s*{_OF}\s*[(\[]\s*{_SHARE}\s*%?\s*[)\]]\s*"),
    }
)
"""What stands in a cell -> its pattern, with the count in the group ``n``."""

_SEEN = MappingProxyType(
    {
        "n (%)": re.compile(rf"\s*{_COUNT}\s*[(\[]\s*{_SHARE}\s*%\s*[)\]]\s*"),
        "% (n)": re.compile(rf"\s*{_SHARE}\s*%\s*[(\[]\s*{_COUNT}\s*[)\]]\s*"),
        "n/N (%)": FORMS["n/N (%)"],
    }
)
"""Those that nothing else can look like."""


def counts_of(rows: Iterable[list[str]], form: str) -> list[list[str]]:
    """The rows with the counts alone in the cells of this form.

    Raises
    ------
    InputError
        If there is none.
    """
    pattern, some = FORMS[form], 0
    out = []
    for row in rows:
        found = [pattern.fullmatch(field) for field in row]
        some += sum(one is not None for one in found)
        out.append([field if one is None else one["n"] for field, one in zip(row, found, strict=True)])
    if not some:
        raise InputError(
            message("no cell is of the form {form}", form), hint=message("leave the option cells out")
        )
    return out


def ask(rows: Iterable[list[str]]) -> InputError | None:
    """The question that the first cell with a share puts; ``None`` if there is none."""
    for row in rows:
        for field in row:
            for form, pattern in _SEEN.items():
                if pattern.fullmatch(field):
                    return InputError(
                        message("cells hold more than a count: {field}", repr(field.strip())),
                        hint=message('say what they hold: --cells "{form}"', form),
                    )
    return None
