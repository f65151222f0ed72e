"""PxWebApi 2: configuration, tables, metadata, code lists and data, for clients of that service.

Its own description says which members its answers have; ours does not repeat it.
A request decides nothing: it is answered with what is out, and refused with what may be asked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from tabprotect.engine.disclosure.policy import in_force
from tabprotect.engine.plain_values.decoding import natural
from tabprotect.languages.messages import message
from tabprotect.server.answered_file import file_answer
from tabprotect.server.asked_table import asked_as
from tabprotect.server.egress import DEFAULT, OUTPUTS
from tabprotect.server.openapi import (
    FORMAT,
    LANGUAGE_ASKED,
    TEXT,
    Address,
    asked,
    asked_of_variables,
    schema_of,
)
from tabprotect.server.problems import Code, HttpProblem
from tabprotect.server.protocols.catalogue import (
    GROUPING,
    REFUSED,
    SENT,
    ListedTable,
    Selected,
    asked_of,
    catalogue,
    listed_table,
    what_is_out,
    whole,
)
from tabprotect.server.protocols.pxweb_json import labels_of, metadata, output_for
from tabprotect.server.protocols.selection import listed
from tabprotect.server.server import server_of, visitor_of
from tabprotect.server.service import Positive

PREFIX = "/v2"

PAGE_SIZE = 100

_OF_VARIABLE = re.compile(r"(valuecodes|codelist|outputvalues)\[(.*)\]", re.IGNORECASE | re.DOTALL)
_PLAIN = ("lang", "outputformat", "heading", "stub")


def address(request: Request) -> str:
    """Say where this interface is, as the client calls it."""
    return f"{str(request.base_url).rstrip('/')}{PREFIX}"


def language(request: Request) -> str:
    """The language of the answer.

    Raises
    ------
    HttpProblem
        ``invalid_query`` where the service does not speak it.
    """
    known = server_of(request).service.languages
    said = request.path_params.get("lang") or request.query_params.get("lang") or known[0]
    if said not in known:
        raise HttpProblem("invalid_query", message("the languages are: {known}", ", ".join(map(str, known))))
    return str(said)


async def config(request: Request) -> dict[str, object]:
    """The limits and formats, as PxWebApi 2 tells them; not counted."""
    service, limits = server_of(request).service, visitor_of(request).limits
    told = in_force().metadata
    return {
        "apiVersion": "2.0.0",
        "languages": [{"id": one, "label": one} for one in service.languages],
        "defaultLanguage": service.languages[0],
        "maxDataCells": limits.cells,
        "maxCallsPerTimeWindow": limits.requests,
        "timeWindow": limits.window,
        "license": told.get("licence", ""),
        "sourceReferences": [
            {"language": one, "text": told["publisher"]} for one in service.languages if "publisher" in told
        ],
        "defaultMetadataFormat": DEFAULT,
        "defaultDataFormat": DEFAULT,
        "dataFormats": list(OUTPUTS),
        "features": [
            {"id": "CORS", "params": [{"key": "enabled", "value": str(bool(service.access.allowed_origins))}]}
        ],
    }


async def tables(request: Request) -> dict[str, object]:
    """The tables, in pages; searched by words of their labels, identifiers and variables."""
    params, spoken = request.query_params, language(request)
    words = params.get("query", "").casefold().split()
    every = await run_in_threadpool(catalogue, server_of(request).table)
    found = [table for table in every if all(word in _text(table) for word in words)]
    number, size = _page(params.get("pageNumber"), 1), _page(params.get("pageSize"), PAGE_SIZE)
    pages = max(1, -(-len(found) // size))
    if number > pages:
        raise HttpProblem("not_found", message("there are {pages} pages", pages))
    return {
        "language": spoken,
        "tables": [_entry(request, table, spoken) for table in found[(number - 1) * size : number * size]],
        "page": {
            "pageNumber": number,
            "pageSize": size,
            "totalElements": len(found),
            "totalPages": pages,
            "links": [
                _link(spoken, rel, str(request.url.include_query_params(pageNumber=other)))
                for rel, other in (("previous", number - 1), ("next", number + 1), ("last", pages))
                if 1 <= other <= pages
            ],
        },
        "links": [_link(spoken, "self", str(request.url))],
    }


def _text(table: ListedTable) -> str:
    return "\n".join([table.id, table.label, *(v.name for v in table.variables)]).casefold()


def _page(said: str | None, default: int) -> int:
    if said is None:
        return default
    if not (natural(said) and len(said) < 9):
        raise HttpProblem("invalid_query", message("a page has a whole number from 1"))
    return int(said)


def _entry(request: Request, table: ListedTable, spoken: str) -> dict[str, object]:
    own = f"{address(request)}/tables/{table.id}"
    return {
        "type": "Table",
        "id": table.id,
        "label": table.label,
        "description": "",
        "updated": None,
        "firstPeriod": None,
        "lastPeriod": None,
        "category": "public",
        "variableNames": [variable.name for variable in table.variables],
        "discontinued": False,
        "links": [
            _link(spoken, "self", own),
            _link(spoken, "metadata", f"{own}/metadata"),
            _link(spoken, "data", f"{own}/data"),
        ],
    }


def _link(spoken: str, rel: str, href: str) -> dict[str, str]:
    return {"rel": rel, "hreflang": spoken, "href": href}


async def _table(request: Request) -> ListedTable:
    served = server_of(request).table
    return await run_in_threadpool(listed_table, served, request.path_params["id"])


async def table(request: Request) -> dict[str, object]:
    """One table, as the list has it."""
    spoken = language(request)
    return {"language": spoken, **_entry(request, await _table(request), spoken)}


async def table_metadata(request: Request) -> dict[str, object]:
    """The variables with their values and code lists, as JSON-stat 2 without numbers."""
    spoken = language(request)
    return metadata(await _table(request), address(request), spoken)


async def default_selection(request: Request) -> dict[str, object]:
    """The selection that stands for none: what is out with the most variables."""
    language(request)
    found = await _table(request)
    served = server_of(request).table
    wanted = await run_in_threadpool(asked_of, served, found, ())
    names = served.lattice.names_of(wanted.query)
    selection = []
    for name in names:
        variable = found.variable(wanted.called.get(name, name))
        grouped = name != variable.finest.name
        code_list = {"codelist": f"{GROUPING}{name}"} if grouped else {}
        selection.append({"variableCode": variable.name, **code_list, "valueCodes": ["*"]})
    return {"selection": selection}


async def code_list(request: Request) -> dict[str, object]:
    """A level of a variable as a code list."""
    spoken, name = language(request), request.path_params["id"]
    for variable in whole(server_of(request).table).variables:
        for level in variable.levels:
            if name == f"{GROUPING}{level.name}":
                groups = next(g for g in variable.finest.coarser if g.name == level.finest).groups
                values = [
                    {
                        "code": code,
                        "label": label,
                        "valueMap": [
                            value
                            for value, group in zip(variable.finest.categories, groups, strict=True)
                            if group == code
                        ],
                    }
                    for code, label in labels_of(level).items()
                ]
                return {
                    "id": name,
                    "label": level.finest,
                    "language": spoken,
                    "type": "Aggregation",
                    "values": values,
                    "links": [_link(spoken, "self", f"{address(request)}/codelists/{name}")],
                }
    raise HttpProblem("not_found", message("there is no code list {name}", repr(name[:40])))


async def data(request: Request) -> Response:
    """What is out, by a selection, as a file; nothing is decided."""
    spoken, found = language(request), await _table(request)
    selections, order = _selections(request, await request.body())
    output_name = _output_name(request)
    output = output_for(output_name, found, spoken)
    if output is None:
        raise HttpProblem(
            "invalid_query", message("there is no output format {name}", repr(output_name[:40]))
        )
    wanted = await run_in_threadpool(asked_of, server_of(request).table, found, selections, order)
    given = await what_is_out(request, wanted)
    return await file_answer(request, given, output, wanted)


def _output_name(request: Request) -> str:
    return next((v for n, v in request.query_params.multi_items() if n.lower() == "outputformat"), DEFAULT)


def _selections(request: Request, body: bytes) -> tuple[list[Selected], list[str]]:
    """Return what is selected of each variable, and which variables stand first."""
    said: dict[str, dict[str, list[str]]] = {}
    placed: dict[str, list[str]] = {}
    for name, value in request.query_params.multi_items():
        found = _OF_VARIABLE.fullmatch(name)
        if found is not None:
            said.setdefault(found[2], {}).setdefault(found[1].lower(), []).append(value)
        elif name.lower() not in _PLAIN:
            raise HttpProblem("invalid_query", message("{unknown} means nothing here", repr(name[:40])))
        elif name.lower() in ("stub", "heading"):
            placed[name.lower()] = listed(value)
    if request.method == "POST" and body.strip():
        return _posted(body)
    selections = [
        Selected(
            name,
            tuple(_expressions(of.get("valuecodes", ()))),
            (of.get("codelist") or [""])[0],
            _is_single((of.get("outputvalues") or [""])[0]),
        )
        for name, of in said.items()
    ]
    return selections, [*placed.get("stub", ()), *placed.get("heading", ())]


def _expressions(values: Sequence[str]) -> list[str]:
    # A text that is listed whole stays whole, so that a code with a comma may be one of several.
    return [part for value in values for part in listed(value)]


def _is_single(said: object) -> bool:
    if said is None or said == "" or str(said).lower() == "aggregated":
        return False
    if str(said).lower() == "single":
        return True
    raise HttpProblem("invalid_query", message("outputValues is aggregated or single"))


@dataclass(frozen=True)
class AskedVariable:
    """What a body selects of a variable."""

    variableCode: str  # noqa: N815
    valueCodes: tuple[str, ...] | None = ()  # noqa: N815
    codelist: str | None = ""
    outputValues: str | None = ""  # noqa: N815


@dataclass(frozen=True)
class Placement:
    """Which variables stand first."""

    stub: tuple[str, ...] | None = ()
    heading: tuple[str, ...] | None = ()


@dataclass(frozen=True)
class Selection:
    """The body of a request for data, as PxWebApi 2 has it."""

    selection: tuple[AskedVariable, ...] | None = ()
    placement: Placement | None = None


def _posted(body: bytes) -> tuple[list[Selected], list[str]]:
    said = asked_as(body, Selection, among_others=True, any_case=True)
    placed = said.placement or Placement()
    selections = [
        Selected(of.variableCode, of.valueCodes or (), of.codelist or "", _is_single(of.outputValues))
        for of in said.selection or ()
    ]
    return selections, [*(placed.stub or ()), *(placed.heading or ())]


_OUTPUT_FORMAT = asked("outputFormat", FORMAT, "The format.")
_OF_TABLE: tuple[Code, ...] = ("invalid_query", "unknown_table")

ROUTES = (
    Address(f"{PREFIX}/config", config),
    Address(
        f"{PREFIX}/tables",
        tables,
        "invalid_query",
        "not_found",
        parameters=(
            LANGUAGE_ASKED,
            asked("query", TEXT, "Words that a table's label holds."),
            asked("pageNumber", schema_of(Positive), "From 1."),
            asked("pageSize", schema_of(Positive), "Tables of a page."),
        ),
    ),
    Address(f"{PREFIX}/tables/{{id}}", table, *_OF_TABLE, parameters=(LANGUAGE_ASKED,)),
    Address(f"{PREFIX}/tables/{{id}}/metadata", table_metadata, *_OF_TABLE, parameters=(LANGUAGE_ASKED,)),
    Address(
        f"{PREFIX}/tables/{{id}}/defaultselection",
        default_selection,
        *_OF_TABLE,
        parameters=(LANGUAGE_ASKED,),
        answers={200: Selection},
    ),
    Address(
        f"{PREFIX}/tables/{{id}}/data",
        data,
        *REFUSED,
        parameters=(
            LANGUAGE_ASKED,
            asked_of_variables(
                "valueCodes",
                "valueCodes[A]=a1,a2: values of A, or *, ?, top(n), bottom(n), range(a,b), from(a), to(a); "
                "variables that are not named are summed over.",
            ),
            asked_of_variables("codelist", "codelist[A]=agg_A@level: the groups of a level."),
            asked_of_variables("outputValues", "outputValues[A]=aggregated or single."),
            _OUTPUT_FORMAT,
            asked("stub", TEXT, "Variables that stand first."),
            asked("heading", TEXT, "Variables that follow these."),
        ),
        answers=SENT,
    ),
    Address(
        f"{PREFIX}/tables/{{id}}/data",
        data,
        *REFUSED,
        method="POST",
        parameters=(LANGUAGE_ASKED, _OUTPUT_FORMAT),
        body=schema_of(Selection),
        answers=SENT,
    ),
    Address(
        f"{PREFIX}/codelists/{{id}}", code_list, "invalid_query", "not_found", parameters=(LANGUAGE_ASKED,)
    ),
)
