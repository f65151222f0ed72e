"""The bundle's README as parts of a page; its text comes from ``reader_text``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from markupsafe import Markup, escape

from tabprotect.engine.bundle.reader_text import reader_text
from tabprotect.engine.release.release import Release
from tabprotect.languages.speaking import told

_CODE, _STRONG = re.compile("`([^`]+)`"), re.compile(r"\*\*([^*]+)\*\*")

_CONTROL = dict.fromkeys((*range(32), *range(127, 160)), "�")
_CONTROL |= {ord(c): " " for c in "\n\t"}


def plain(text: str) -> str:
    """Text without characters that control a printer or break a page: labels come from anybody."""
    return text.translate(_CONTROL).encode("utf-8", "replace").decode()


def sections(release: Release) -> dict[str, Markup]:
    """The README by heading; the text before the first heading under ``""``. Public."""
    found: dict[str, list[str]] = {"": []}
    current = found[""]
    for line in reader_text(release).splitlines()[1:]:
        if line.startswith("## "):
            current = found.setdefault(line[3:], [])
        else:
            current.append(line)
    return {heading: Markup("\n").join(_blocks(lines)) for heading, lines in found.items()}


def _kind(line: str) -> str:
    return (
        "" if not line else "point" if line[:2] == "- " else "code" if line[:4] == "    " else "p"
    )


def _blocks(lines: list[str]) -> Iterator[Markup]:
    for kind, group in groupby(lines, _kind):
        if kind == "point":
            points = (Markup("<li>{}</li>").format(_inline(told(line[2:]))) for line in group)
            yield Markup("<ul>{}</ul>").format(Markup("").join(points))
        elif kind == "code":
            yield Markup("<pre>{}</pre>").format("\n".join(plain(line[4:]) for line in group))
        elif kind == "p":
            yield Markup("<p>{}</p>").format(_inline(told(" ".join(group))))


def _inline(text: str) -> Markup:
    escaped = str(escape(plain(text)))
    marked = _STRONG.sub(r"<strong>\1</strong>", _CODE.sub(r"<code>\1</code>", escaped))
    return Markup(marked)
