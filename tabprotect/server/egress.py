"""The one way out: a table as bytes of a format. Pages, files and JSON all take it."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.registered import formats
from tabprotect.engine.tables.table import Table
from tabprotect.server.problems import HttpProblem

Write = Callable[[Table, str], bytes]
"""A table with its title as bytes."""


@dataclass(frozen=True)
class ServedFormat:
    """One format: its name in ``format=``, its media type, the ending of a file, what writes it."""

    name: str
    media: str
    suffix: str
    write: Write


def _engine(name: str) -> Write:
    def write(table: Table, title: str) -> bytes:
        try:
            return formats()[name].publish(table, None, title)
        except InputError as error:
            raise HttpProblem("not_acceptable", f"{error.message}: take another format") from None

    return write


def html_rows(table: Table) -> list[tuple[tuple[str, ...], int]]:
    """Every cell with its categories, the last variable fastest."""
    labels = [table.domain.labels(index) for index in np.ndindex(table.domain.shape)]
    return list(zip(labels, table.counts.reshape(-1).tolist(), strict=True))


def _xml(table: Table, title: str) -> bytes:
    """Variables with their categories, then every cell by the numbers of its categories."""
    out = [f'<?xml version="1.0" encoding="UTF-8"?>\n<table label={quoteattr(_plain(title))}>']
    for variable in table.domain.variables:
        out.append(f"<variable id={quoteattr(_plain(variable.name))}>")
        out += [f"<category>{escape(_plain(c))}</category>" for c in variable.categories]
        out.append("</variable>")
    indices = np.ndindex(table.domain.shape)
    for index, count in zip(indices, table.counts.reshape(-1).tolist(), strict=True):
        out.append(f'<cell index="{" ".join(map(str, index))}">{count}</cell>')
    return ("\n".join([*out, "</table>"]) + "\n").encode()


def _plain(text: str) -> str:
    """Without the characters that XML has no place for."""
    return "".join(c if c >= " " and c not in "\ufffe\uffff" else "\ufffd" for c in text)


def _html(table: Table, title: str) -> bytes:
    head = "".join(f'<th scope="col">{html.escape(n)}</th>' for n in table.domain.names)
    rows = "".join(
        "<tr>"
        + "".join(f'<th scope="row">{html.escape(label)}</th>' for label in labels)
        + f"<td>{count}</td></tr>\n"
        for labels, count in html_rows(table)
    )
    text = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<title>{html.escape(title)}</title><link rel="stylesheet" href="/style.css"></head>\n'
        f"<body><main><table><caption>{html.escape(title)}</caption>\n"
        f'<thead><tr>{head}<th scope="col">count</th></tr></thead>\n<tbody>{rows}</tbody>'
        "</table></main></body></html>\n"
    )
    return text.encode()


OUTPUTS: Mapping[str, ServedFormat] = {
    output.name: output
    for output in (
        ServedFormat("json-stat2", "application/json", "json", _engine("jsonstat")),
        ServedFormat("csv", "text/csv; charset=utf-8", "csv", _engine("csv")),
        ServedFormat("px", "text/x-pcaxis", "px", _engine("px")),
        ServedFormat("sdmx-csv", "application/vnd.sdmx.data+csv", "csv", _engine("sdmx_csv")),
        ServedFormat("xml", "application/xml", "xml", _xml),
        ServedFormat("parquet", "application/vnd.apache.parquet", "parquet", _engine("parquet")),
        ServedFormat(
            "xlsx",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            "xlsx",
            _engine("xlsx"),
        ),
        ServedFormat("html", "text/html; charset=utf-8", "html", _html),
    )
}

DEFAULT = "json-stat2"


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
                "invalid_query", f"there is no format {name[:40]!r}; there are {', '.join(OUTPUTS)}"
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
            "not_acceptable", f"none of the formats is accepted: {', '.join(OUTPUTS)}"
        )
    return best[2]


def _matches(media: str, output: ServedFormat) -> bool:
    own = output.media.partition(";")[0]
    alike = {
        "application/json": ("application/vnd.json-stat+json",),
        "application/xml": ("text/xml",),
    }
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
