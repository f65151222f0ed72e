"""SDMX-REST 2: every sub-table that is out is a dataflow with a data structure of its own.

Nothing is decided here: what is not out is not there.
"""

from __future__ import annotations

import re
from dataclasses import replace

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from tabprotect.engine.formats.agencies.sdmx_identifiers import AGENCY, VERSION, identified
from tabprotect.engine.formats.agencies.sdmx_structures import (
    KINDS,
    MEDIA,
    Kind,
    Structure,
    structure_message,
)
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.tables.cube import Cube
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.variable import Variable
from tabprotect.languages.messages import message
from tabprotect.server.answered_file import file_answer
from tabprotect.server.asked_table import AskedTable
from tabprotect.server.egress import OUTPUTS, ServedFormat
from tabprotect.server.openapi import TEXT, Address, asked, asked_of_variables
from tabprotect.server.problems import HttpProblem
from tabprotect.server.protocols.catalogue import REFUSED, SENT, catalogue, what_is_out
from tabprotect.server.server import server_of

PREFIX = "/sdmx/v2"

FORMATS = ("sdmx-ml", "sdmx-json", "sdmx-csv")
"""The first is what an ``Accept`` of anything gets."""

_ANY = ("*", "all")
_VERSIONS = (VERSION, "1.0.0", "+", "1.0+", "~", "latest", *_ANY)
_COMPONENT = re.compile(r"c\[(.+)\]")


def _flows(request: Request) -> dict[str, tuple[Query, Structure]]:
    """Return what is out, by the identifiers of its dataflows."""
    served = server_of(request).table
    found = {}
    for table in catalogue(served):
        if table.query is not None:
            domain = served.domain.project(served.lattice.names_of(table.query))
            found[table.id] = (table.query, _structure(domain, table.label))
    return found


def _structure(domain: Domain, label: str) -> Structure:
    made = identified(domain)[0]
    return Structure(made, label, dict(zip(made.names, domain.names, strict=True)))


def _known(request: Request, of: dict[str, tuple[Query, Structure]]) -> list[str]:
    """The identifiers that a path means."""
    params = request.path_params
    agency, version = params.get("agency", "*"), params.get("version", "+")
    if agency not in (AGENCY, *_ANY) or version not in _VERSIONS:
        return []
    wanted = params.get("id", "*").split(",")
    return [name for name in of if name in wanted or not {*wanted}.isdisjoint(_ANY)]


async def structure(request: Request) -> Response:
    """Structures of what is out: dataflows, data structures, code lists and concepts."""
    kind = request.path_params["kind"]
    known: Kind | None = next((one for one in KINDS if one == kind), None)
    if known is None:
        raise HttpProblem("not_found", message("there are {kinds}", ", ".join(KINDS)))
    flows = await run_in_threadpool(_flows, request)
    if known in ("codelist", "conceptscheme"):
        names = list(flows)
    else:
        names = _known(request, flows)
        if not names and request.path_params.get("id", "*") not in _ANY:
            raise HttpProblem("not_found", message("nothing of this name is out"))
    alone = request.query_params.get("references", "none") == "none"
    kinds: tuple[Kind, ...] = (known,) if alone else KINDS
    content = structure_message([flows[name][1] for name in names], kinds)
    return Response(content, media_type=MEDIA, headers={"Cache-Control": "no-cache"})


async def data(request: Request) -> Response:
    """Observations of what is out, those that a key or ``c[DIMENSION]`` select; nothing is decided."""
    flows = await run_in_threadpool(_flows, request)
    names = _known(request, flows)
    if len(names) != 1 or request.path_params["context"] not in ("dataflow", "datastructure", "*"):
        raise HttpProblem("not_found", message("nothing of this name is out"))
    query, structure = flows[names[0]]
    output = _output(request, structure.id)
    wanted = AskedTable(query, _shown(request, structure))
    given = await what_is_out(request, wanted)
    return await file_answer(request, given, output, wanted)


def _output(request: Request, flow: str) -> ServedFormat:
    accept = request.headers.get("accept", "*/*")
    said = request.query_params.get("format") or next(
        (name for name in FORMATS if OUTPUTS[name].media in accept), FORMATS[0]
    )
    if said not in FORMATS or not any(part in accept for part in ("*/*", "application/", "xml")):
        raise HttpProblem("not_acceptable", message("there are {formats}", ", ".join(FORMATS)))
    output = OUTPUTS[said]

    def write(cube: Cube) -> bytes:
        # Of fewer codes the structure is still the whole dataflow's.
        own = _structure(cube.table.domain, cube.about.title).id
        return output.write(cube).replace(own.encode(), flow.encode())

    return replace(output, name=f"{output.name} {flow}", write=write)


def _shown(request: Request, structure: Structure) -> dict[str, tuple[int, ...]]:
    """Find, of the dimensions that a key or a filter names, the places of the codes."""
    dimensions = list(structure.dimensions)
    wanted: dict[str, set[str]] = {}
    key = request.path_params.get("key", "*")
    if key not in _ANY:
        parts = key.split(".")
        if len(parts) != len(dimensions):
            raise HttpProblem(
                "invalid_query", message("a key has {n} parts, with a dot between", len(dimensions))
            )
        for part, (variable, _) in zip(parts, dimensions, strict=True):
            if part not in ("", *_ANY):
                wanted[variable.name] = set(part.split("+"))
    for name, value in request.query_params.multi_items():
        found = _COMPONENT.fullmatch(name)
        if found is not None:
            codes = {one.removeprefix("eq:") for one in value.split(",")}
            wanted[found[1]] = wanted.get(found[1], codes) & codes
    shown = {}
    for variable, own in dimensions:
        if variable.name in wanted:
            shown[own] = _places(variable, wanted.pop(variable.name))
    if wanted:
        raise HttpProblem("invalid_query", message("there is no dimension {name}", repr(next(iter(wanted)))))
    return shown


def _places(variable: Variable, codes: set[str]) -> tuple[int, ...]:
    places = tuple(n for n, code in enumerate(variable.categories) if code in codes)
    if len(places) < len(codes) or not places:
        raise HttpProblem("invalid_query", message("{name} has no such code", repr(variable.name)))
    return places


STRUCTURES = tuple(
    Address(
        "/".join((PREFIX, *before, "{kind}", *("{agency}", "{id}", "{version}")[:depth])),
        structure,
        "not_found",
        parameters=(asked("references", TEXT, "none, or what belongs to it too."),),
        answers={200: {MEDIA: TEXT}},
    )
    for before in (("structure",), ())
    for depth in range(4)
)
DATA = tuple(
    Address(
        "/".join((PREFIX, "data/{context}/{agency}/{id}", *behind)),
        data,
        *REFUSED,
        parameters=(
            asked_of_variables("c", "c[A]=a1,a2: codes of a dimension."),
            asked("format", {"enum": list(FORMATS)}, "Else by Accept."),
        ),
        answers=SENT,
    )
    for behind in ((), ("{version}",), ("{version}", "{key}"))
)
ROUTES = (*DATA, *STRUCTURES)
