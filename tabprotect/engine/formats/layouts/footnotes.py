"""Footnote marks on labels and counts: ``1 234 1)``, ``65+ *``, ``17\u00b2``, ``12 p``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

_BEGINS = re.compile(
    r"\s*(\*{1,4}|[\u00b9\u00b2\u00b3\u2070-\u2079\u2020\u2021]+|\(?[0-9a-z]{1,2}\)|\[[0-9a-z]{1,2}\])"
)
"""The beginning of a note's line that explains a mark."""

_PLAIN = re.compile(
    r"(?<=[0-9])\s*([*\u00b9\u00b2\u00b3\u2070-\u2079\u2020\u2021]+|(?<=\s)[a-z])\s*$"
)
"""Marks that are no part of a number, explained or not; letters as statistical offices flag counts."""


def explained(notes: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """The marks explained in the lines below a table, the longest first."""
    found = {m[1] for fields in notes if (m := _BEGINS.match(next(filter(str.strip, fields), "")))}
    return tuple(sorted(found, key=len, reverse=True))


def without(
    fields: Sequence[str],
    marks: Sequence[str],
    seen: Counter[str],
    numbers: Collection[int] = (),
) -> list[str]:
    """Strip the marks at the ends of fields; ``seen`` counts them.

    An unexplained letter counts as a mark only in columns of ``numbers``: a label may end in one.
    """
    out = []
    for column, field in enumerate(fields):
        text = field.rstrip()
        mark = next((m for m in marks if text.endswith(m) and text != m), "")
        if mark:
            seen[mark] += 1
            text = text.removesuffix(mark).rstrip()
        elif (found := _PLAIN.search(text)) and (column in numbers or not found[1].isalpha()):
            seen[found[1]] += 1
            text = text[: found.start()]
        else:
            text = field
        out.append(text)
    return out
