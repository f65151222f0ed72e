"""The one way out: a table as bytes of a format. Pages, files and JSON all take it."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.format import Format
from tabprotect.engine.formats.layouts.observations import cells_shown, texts_shown
from tabprotect.engine.formats.registered import formats
from tabprotect.engine.tables.cube import Cube
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message
from tabprotect.server.problems import HttpProblem

Write = Callable[[Cube], bytes]
"""A table with its title as bytes."""


@dataclass(frozen=True)
class ServedFormat:
    """One format: its name in ``format=``, its media type, the ending of a file, what writes it."""

    name: str
    media: str
    suffix: str
    write: Write


def _file(kind: Format) -> ServedFormat:
    """A format of the engine, which is served as one file."""

    def write(cube: Cube) -> bytes:
        if cube.decimals and not (kind.side_by_side and kind.decimals):
            raise HttpProblem("not_acceptable", message("{label} holds no intervals", kind.label))
        try:
            return kind.publish(kind.as_held(cube))
        except InputError as error:
            raise HttpProblem(
                "not_acceptable", message("{message}: take another format", error.message)
            ) from None

    suffix = kind.suffixes[0].rpartition(".")[2]
    return ServedFormat(kind.served_as or kind.name, kind.media, suffix, write)


def html_rows(table: Table) -> list[tuple[tuple[str, ...], int]]:
    """Every cell with its categories, the last variable fastest."""
    return [(labels, count or 0) for _, labels, count in cells_shown(table)]


def _xml(cube: Cube) -> bytes:
    """Variables with their categories, then every cell by the numbers of its categories."""
    table, label = cube.table, quoteattr(_plain(cube.about.title))
    out = [f'<?xml version="1.0" encoding="UTF-8"?>\n<table label={label}>']
    for variable in table.domain.variables:
        out.append(f"<variable id={quoteattr(_plain(variable.name))}>")
        out += [f"<category>{escape(_plain(c))}</category>" for c in variable.categories]
        out.append("</variable>")
    for index, text in zip(np.ndindex(*table.domain.shape), texts_shown(cube), strict=True):
        out.append(f'<cell index="{" ".join(map(str, index))}">{text}</cell>')
    return ("\n".join([*out, "</table>"]) + "\n").encode()


def _plain(text: str) -> str:
    """Return it without the characters that XML has no place for."""
    return "".join(c if c >= " " and c not in "\ufffe\uffff" else "\ufffd" for c in text)


def _html(cube: Cube) -> bytes:
    table, title = cube.table, cube.about.title
    cells = zip(map(table.domain.labels, np.ndindex(*table.domain.shape)), texts_shown(cube), strict=True)
    head = "".join(f'<th scope="col">{html.escape(n)}</th>' for n in table.domain.names)
    rows = "".join(
        "<tr>"
        + "".join(f'<th scope="row">{html.escape(label)}</th>' for label in labels)
        + f"<td>{text}</td></tr>\n"
        for labels, text in cells
    )
    text = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<title>{html.escape(title)}</title><link rel="stylesheet" href="/style.css"></head>\n'
        f"<body><main><table><caption>{html.escape(title)}</caption>\n"
        f'<thead><tr>{head}<th scope="col">count</th></tr></thead>\n<tbody>{rows}</tbody>'
        "</table></main></body></html>\n"
    )
    return text.encode()


DEFAULT = "json-stat2"


def _outputs() -> Mapping[str, ServedFormat]:
    """Every format by its name: the default, those of the engine, and those of pages alone."""
    files = [_file(kind) for kind in formats().values() if kind.is_one_file]
    pages = [
        ServedFormat("xml", "application/xml", "xml", _xml),
        ServedFormat("html", "text/html; charset=utf-8", "html", _html),
    ]
    # What an `Accept` leaves open is settled by the order.
    ordered = sorted([*files, *pages], key=lambda output: output.name != DEFAULT)
    return {output.name: output for output in ordered}


OUTPUTS = _outputs()


def chosen_format(name: str | None, accept: str) -> ServedFormat:
    """The format that ``format=`` names, else the one that ``Accept`` likes best.

    Raises
    ------
    Problem
        ``not_acceptable`` or, for an unknown name, ``invalid_query``.
    """
    if name is not None:
        found = OUTPUTS.get(name)
        if found is None:
            raise HttpProblem(
                "invalid_query",
                message(
                    "there is no format {name}; there are {OUTPUTS}", repr(name[:40]), ", ".join(OUTPUTS)
                ),
            )
        return found
    best: tuple[float, int, ServedFormat] | None = None
    for place, part in enumerate((accept or "*/*").split(",")):
        media, *options = (word.strip() for word in part.split(";"))
        quality = _quality(options)
        for output in OUTPUTS.values():
            if quality > 0 and _matches(media.lower(), output):
                order = (quality, -place, output)
                if best is None or order[:2] > best[:2]:
                    best = order
                break
    if best is None:
        raise HttpProblem(
            "not_acceptable", message("none of the formats is accepted: {OUTPUTS}", ", ".join(OUTPUTS))
        )
    return best[2]


def _matches(media: str, output: ServedFormat) -> bool:
    own = output.media.partition(";")[0]
    alike = {"application/json": ("application/vnd.json-stat+json",), "application/xml": ("text/xml",)}
    kind = own.partition("/")[0]
    return media in (own, "*/*", f"{kind}/*", *alike.get(own, ()))


def _quality(options: list[str]) -> float:
    for option in options:
        if option.startswith("q="):
            try:
                return float(option[2:])
            except ValueError:
                return 0.0
    return 1.0
