"""PxWebApi 1: a tree of tables by ``GET``, a query by ``POST``, for clients that speak only that.

A query decides nothing: it is answered with what is out, and refused with what may be asked.
"""

from __future__ import annotations

from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from tabprotect.languages.messages import message
from tabprotect.server.answered_file import file_answer
from tabprotect.server.asked_table import asked_as
from tabprotect.server.egress import DEFAULT
from tabprotect.server.openapi import Address, schema_of
from tabprotect.server.problems import HttpProblem
from tabprotect.server.protocols.catalogue import (
    REFUSED,
    SENT,
    Selected,
    asked_of,
    catalogue,
    listed_table,
    what_is_out,
)
from tabprotect.server.protocols.pxweb_json import output_for, variables_listed
from tabprotect.server.protocols.pxweb_v2 import language
from tabprotect.server.server import server_of, visitor_of

FOLDER = "tables"
"""The one folder of the tree."""


async def tree(request: Request) -> dict[str, object] | list[dict[str, str]]:
    """The folder, the tables in it, or a table's variables; ``?config`` tells the limits."""
    language(request)
    path = [part for part in request.path_params.get("path", "").split("/") if part]
    service, limits = server_of(request).service, visitor_of(request).limits
    served = server_of(request).table
    if "config" in request.query_params:
        return {
            "maxValues": limits.cells,
            "maxCells": limits.cells,
            "maxCalls": limits.requests,
            "timeWindow": limits.window,
            "CORS": bool(service.access.allowed_origins),
        }
    if not path:
        return [{"dbid": FOLDER, "text": service.title}]
    if path == [FOLDER]:
        words = request.query_params.get("query", "").casefold().split()
        return [
            {"id": table.id, "type": "t", "text": table.label, "updated": ""}
            for table in await run_in_threadpool(catalogue, served)
            if all(word in table.label.casefold() for word in words)
        ]
    table = await run_in_threadpool(listed_table, served, _table_id(path))
    return {"title": table.label, "variables": variables_listed(table)}


def _table_id(path: list[str]) -> str:
    if len(path) > 2 or (len(path) == 2 and path[0] != FOLDER):
        raise HttpProblem("not_found", message("this address means nothing here"))
    return path[-1]


async def query(request: Request) -> Response:
    """What is out, by a query, as a file; nothing is decided."""
    spoken, served = language(request), server_of(request).table
    path = [part for part in request.path_params.get("path", "").split("/") if part]
    if not path:
        raise HttpProblem("not_found", message("this address means nothing here"))
    found = await run_in_threadpool(listed_table, served, _table_id(path))
    asked = asked_as(await request.body(), Query, among_others=True)
    format_name = (asked.response or Answering()).format
    output = output_for(format_name, found, spoken)
    if output is None:
        raise HttpProblem(
            "invalid_query", message("there is no output format {name}", repr(format_name[:40]))
        )
    wanted = await run_in_threadpool(asked_of, served, found, [*map(_selected, asked.query or ())])
    given = await what_is_out(request, wanted)
    return await file_answer(request, given, output, wanted)


@dataclass(frozen=True)
class Filter:
    """Which values of a variable a query selects."""

    filter: str
    values: tuple[str | int, ...]


@dataclass(frozen=True)
class AskedVariable:
    """A variable of a query."""

    code: str
    selection: Filter


@dataclass(frozen=True)
class Answering:
    """How a query is to be answered."""

    format: str = DEFAULT


@dataclass(frozen=True)
class Query:
    """The body of a query, as PxWebApi 1 has it."""

    query: tuple[AskedVariable, ...] | None = ()
    response: Answering | None = None


def _selected(of: AskedVariable) -> Selected:
    kind, values = of.selection.filter, tuple(map(str, of.selection.values))
    if kind.lower() == "top":
        return Selected(of.code, (f"top({''.join(values[:1])})",))
    way, _, code_list = kind.partition(":")
    if way.lower() not in ("item", "all", "agg", "vs"):
        raise HttpProblem("invalid_query", message("there is no filter {kind}", repr(kind[:40])))
    return Selected(of.code, values, code_list)


ROUTES = tuple(
    route
    for path in ("/v1/{lang}", "/v1/{lang}/{path:path}")
    for route in (
        Address(path, tree, "invalid_query", "unknown_table", "not_found"),
        Address(path, query, *REFUSED, method="POST", body=schema_of(Query), answers=SENT),
    )
)
