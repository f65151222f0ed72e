"""The API: tables, sub-tables, queries, bundles; every answer of a program takes these routes."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypedDict

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from tabprotect.engine.plain_values.encoding import as_json
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.query_space.table_server.log_entry import LogEntry
from tabprotect.engine.query_space.table_server.session import Answered
from tabprotect.engine.tables.variable import Variable
from tabprotect.languages.messages import message
from tabprotect.server.accounting.accounts import Role
from tabprotect.server.answered_file import FOR_EVER, file_answer, written
from tabprotect.server.asked_table import AskedTable, Word, Words, asked_as, asked_table, names_listed
from tabprotect.server.egress import DEFAULT, OUTPUTS, chosen_format
from tabprotect.server.guard.boundary import checked_decision, is_local
from tabprotect.server.openapi import FILE, FORMAT, TEXT, Address, asked, schema_of
from tabprotect.server.problems import Code, HttpProblem
from tabprotect.server.served_table import Given, ServedTable
from tabprotect.server.server import server_of, visitor_of
from tabprotect.version import __version__

Kind = Literal["release", "perturb", "defer", "refuse"]
Outcome = Literal["released", "perturbed", "deferred", "not_released"]


class Labelled(TypedDict):
    """What there is, by its identifier."""

    id: str
    label: str


class Described(Labelled):
    """A variable, or a level of one."""

    categories: list[Labelled]


class OfferedVariable(Described):
    """A variable with its offered levels."""

    levels: list[Described]


class Tables(TypedDict):
    """Which tables there are."""

    tables: list[Labelled]


class Metadata(Labelled):
    """A table with what is offered of it."""

    variables: list[OfferedVariable]
    disallowed: list[str]


class FrontierObject(TypedDict):
    """What is out."""

    variables: list[str]
    released: list[list[str]]
    refused: list[list[str]]
    frozen: bool
    perturbed: str | None


class SubTable(TypedDict):
    """A sub-table that is out."""

    variables: list[str]
    bundle: str
    data: dict[str, object]


class Decision(TypedDict):
    """What became of a query."""

    number: int
    variables: list[str]
    decision: Kind
    code: Outcome
    reason: str
    permanent: bool


class Decided(Decision, total=False):
    """The same with the sub-table, where it is out."""

    answer: SubTable


DECISIONS: Mapping[str, tuple[Kind, Outcome]] = {
    "table": ("release", "released"),
    "perturbed": ("perturb", "perturbed"),
    "deferral": ("defer", "deferred"),
    "projection": ("refuse", "not_released"),
    "refusal": ("refuse", "not_released"),
}
"""Decision and code of each kind of answer."""


async def config(request: Request) -> dict[str, object]:
    """All limits and what is fixed; not counted."""
    service = server_of(request).service
    said: dict[str, object] = {
        "title": service.title,
        "version": __version__,
        "languages": service.languages,
        "formats": list(OUTPUTS),
        "default_format": DEFAULT,
        "criterion": {"name": service.held_to.name} if service.table.measure else service.criterion,
        "at_risk": service.table.at_risk,
        "rule": service.rule,
        "beyond": service.beyond,
        "limits": service.limits,
        "groups": service.groups,
        "anonymous": service.access.anonymous,
    }
    return {name: as_json(value) for name, value in said.items()}


async def tables(request: Request) -> Tables:
    """Which tables there are: one."""
    served = server_of(request).table
    return {"tables": [{"id": served.id, "label": served.label}]}


async def metadata(request: Request) -> Metadata:
    """The variables that are offered, with their categories."""
    served = _served(request)
    offered = {variable.name: variable for variable in served.offered}
    said: list[OfferedVariable] = []
    for variable in served.domain.variables:
        levels = [_described(offered[name]) for name in variable.named if name in offered]
        if variable.name in offered or levels:
            said.append({**_described(variable), "levels": levels})
    names = served.lattice.names_of(served.disallowed)
    return {"id": served.id, "label": served.label, "variables": said, "disallowed": list(names)}


def _described(variable: Variable) -> Described:
    return {
        "id": variable.name,
        "label": variable.name,
        "categories": [{"id": c, "label": c} for c in variable.categories],
    }


async def data(request: Request) -> Response:
    """A sub-table as a file; by ``POST`` one that was not asked for yet is decided on."""
    served = _served(request)
    asked = _asked_data(request, await request.body())
    output = chosen_format(asked.format, request.headers.get("accept", ""))
    identified(request)
    wanted = await understood(request, asked.variables, asked.filter)
    given = served.at_hand(wanted.query) or await run_in_threadpool(served.known, wanted.query)
    if given is None:
        checked_decision(request)
        answered = await decided(request, wanted.query, user_of(request, None))
        given = await run_in_threadpool(served.given, answered)
        if given is None:
            return _not_given(request, answered)
    return await file_answer(request, given, output, wanted)


async def ask(request: Request) -> Response:
    """Ask for a sub-table: decided, put off or refused."""
    served = _served(request)
    checked_decision(request)
    asked = asked_as(await request.body(), AskedQuery)
    identified(request)
    wanted = await understood(request, asked.variables, asked.filter)
    answered = await decided(request, wanted.query, user_of(request, asked.user))
    given = await run_in_threadpool(served.given, answered)
    if given is None:
        return _not_given(request, answered)
    return JSONResponse(
        await run_in_threadpool(_answer_json, request, answered.entry, given, wanted),
        status_code=201,
        headers={"Location": f"/queries/{answered.entry.number}", "Cache-Control": "no-store"},
    )


async def query(request: Request) -> Decision | Decided:
    """What became of a query; one that was put off may have been released since."""
    served = server_of(request).table
    identified(request)
    number = request.path_params["number"]
    entry = await run_in_threadpool(served.entry, number)
    if entry is None or entry.line.kind not in DECISIONS:
        raise HttpProblem("not_found", message("there is no query {number}", number))
    given = await run_in_threadpool(served.known, entry.line.query)
    if given is None:
        return _entry_json(request, entry)
    return await run_in_threadpool(_answer_json, request, entry, given, AskedTable(entry.line.query))


async def vote(request: Request) -> Response | Decision | Decided:
    """Ask once more for what was put off: demand counts."""
    identified(request)
    checked_decision(request)
    number = request.path_params["number"]
    answered = await voted(request, number)
    if answered is None:
        return await query(request)
    given = await run_in_threadpool(server_of(request).table.given, answered)
    if given is None:
        return _not_given(request, answered)
    said = await run_in_threadpool(
        _answer_json, request, answered.entry, given, AskedTable(answered.entry.line.query)
    )
    return JSONResponse(said, status_code=201, headers={"Cache-Control": "no-store"})


async def voted(request: Request, number: int) -> Answered | None:
    """The decision that a vote brings; ``None`` where it changes nothing."""
    server, visitor = server_of(request), visitor_of(request)
    known = visitor.account is not None
    answered = await run_in_threadpool(lambda: server.table.vote(user_of(request, None), number, known=known))
    if answered is not None:
        await decision_time(request, answered)
    return answered


async def frontier(request: Request) -> FrontierObject:
    """The released frontier, and what is known to be refused for good."""
    served = _served(request)
    state = await run_in_threadpool(served.refresh)
    names = served.lattice.names_of
    return {
        "variables": list(served.lattice.names),
        "released": [list(names(q)) for q in state.releases.released if q],
        "refused": [list(names(q)) for q in state.refused],
        "frozen": state.frozen,
        "perturbed": state.perturbed or None,
    }


async def bundle(request: Request) -> Response:
    """A release bundle that went out, as it was, for ever."""
    server, mark = server_of(request), request.path_params["fingerprint"]
    identified(request)
    tag, public = f'"{mark}"', "public" if server.service.access.anonymous else "private"
    content = await run_in_threadpool(server.table.bundle, mark) if len(mark) == 64 else None
    if content is None:
        raise HttpProblem("not_found", message("no bundle with this fingerprint went out"))
    headers = {
        "ETag": tag,
        "Cache-Control": message("{public}, {FOR_EVER}", public, FOR_EVER),
        "Content-Disposition": f'attachment; filename="{mark[:12]}.zip"',
    }
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(content, media_type="application/zip", headers=headers)


async def health(request: Request) -> dict[str, str]:
    """Whether the history can be reached; not counted."""
    await run_in_threadpool(server_of(request).table.refresh)
    return {"status": "ok"}


async def metrics(request: Request) -> Response:
    """Figures for a monitor, on this machine or with a key of the house; not counted."""
    if not is_local(request, server_of(request).service.access):
        with_role(request, "operator", "auditor")
    text = server_of(request).metrics.text()
    return PlainTextResponse(text, media_type="text/plain; version=0.0.4")


def _served(request: Request) -> ServedTable:
    served = server_of(request).table
    if request.path_params["id"] != served.id:
        raise HttpProblem("unknown_table", message("the only table is {id}", repr(served.id)))
    return served


def with_role(request: Request, *roles: Role) -> str:
    """The name of whoever asks, who must have one of these roles."""
    account = visitor_of(request).account
    if account is None:
        raise HttpProblem("unauthorised", message("sign in with a key of the house"))
    if account.role not in roles:
        raise HttpProblem("forbidden", message("this is for the {roles}", " and the ".join(roles)))
    return account.name


def identified(request: Request) -> None:
    """Complain where a key is needed and there is none."""
    if not server_of(request).service.access.anonymous and visitor_of(request).account is None:
        raise HttpProblem(
            "unauthorised",
            message("ask the operator for a key and send it as Authorization: Bearer KEY"),
            headers={"WWW-Authenticate": "Bearer"},
        )


async def understood(request: Request, names: Sequence[str], filters: Sequence[str]) -> AskedTable:
    """A request that may be decided on; one for what is not offered is logged."""
    served = server_of(request).table
    wanted = asked_table(served.domain, served.lattice, names, filters)
    if served.service.table.measure and (wanted.groups or wanted.summed):
        raise HttpProblem("invalid_query", message("sums are shown as they are published, not added up"))
    await permitted(request, wanted)
    return wanted


async def permitted(request: Request, wanted: AskedTable) -> None:
    """Refuse what is not offered, which is logged, and what is too large."""
    served, limits = server_of(request).table, visitor_of(request).limits
    wrong = wanted.query & served.disallowed
    if wrong:
        await run_in_threadpool(served.not_offered, user_of(request, None), wanted.query)
        raise HttpProblem(
            "disallowed_variable", message("not offered: {wrong}", ", ".join(served.lattice.names_of(wrong)))
        )
    shape = served.shape(wanted.query)
    cells = math.prod(shape)
    if cells > limits.cells:
        raise HttpProblem(
            "too_many_cells",
            message(
                "{str} = {cells:,} cells; at most {cells2:,} in one sub-table",
                " x ".join(map(str, shape)),
                cells,
                limits.cells,
            ),
            more={"cells": cells, "limit": limits.cells},
        )


def user_of(request: Request, said: str | None) -> str:
    """Say whose query it is, for the log."""
    visitor = visitor_of(request)
    if said is not None:
        if not said.strip() or not said.isprintable():
            raise HttpProblem("invalid_query", message("the user is not a name"))
        if len(said) > visitor.limits.name:
            raise HttpProblem(
                "invalid_query", message("a name has at most {name} characters", visitor.limits.name)
            )
    if visitor.account is not None:
        if said is not None and said != visitor.account.name:
            raise HttpProblem("forbidden", message("the key is another user's"))
        return visitor.account.name
    return "anonymous" if said is None else said


async def decided(request: Request, query: Query, user: str) -> Answered:
    """The decision, told at a time that does not depend on what it is."""
    answered = await run_in_threadpool(server_of(request).table.ask, user, query)
    await decision_time(request, answered)
    return answered


async def decision_time(request: Request, answered: Answered) -> None:
    """Wait until the time at which any decision would be told."""
    server = server_of(request)
    server.metrics.decided(DECISIONS[answered.answer.kind][0])
    quantum = server.service.limits.quantum
    # That a table was released before is public: nothing is told by how long it takes.
    known = answered.answer.kind == "perturbed" or (
        answered.answer.kind == "table" and answered.entry.line.newly_released is None
    )
    if quantum and not known:
        spent = time.monotonic() - float(request.scope["tabprotect.begun"])
        await anyio.sleep(quantum - spent % quantum)


def _not_given(request: Request, answered: Answered) -> Response:
    """A deferral or a refusal, with what of the sub-table is released."""
    said = _entry_json(request, answered.entry)
    number, answer = answered.entry.number, answered.answer
    if answer.kind == "deferral":
        headers = {"Location": f"/queries/{number}", "Cache-Control": "no-store"}
        return JSONResponse(said, status_code=202, headers=headers)
    names = server_of(request).table.lattice.names_of
    parts = [list(names(part)) for part in answer.queries]
    raise HttpProblem(
        "not_released",
        answer.reason,
        more={
            "number": number,
            "decision": "refuse",
            "variables": list(names(answer.query)),
            "permanent": answer.permanent,
            "projection": parts,
        },
    )


def _entry_json(request: Request, entry: LogEntry) -> Decision:
    decision, code = DECISIONS[entry.line.kind]
    names = server_of(request).table.lattice.names_of(entry.line.query)
    return {
        "number": entry.number,
        "variables": list(names),
        "decision": decision,
        "code": code,
        "reason": entry.line.reason,
        "permanent": entry.line.permanent,
    }


def _answer_json(request: Request, entry: LogEntry, given: Given, wanted: AskedTable) -> Decided:
    decision, code = DECISIONS[given.kind]
    content = written(server_of(request), given, OUTPUTS["json-stat2"], wanted)
    return {
        **_entry_json(request, entry),
        "decision": decision,
        "code": code,
        "permanent": True,
        "answer": {
            "variables": list(given.table.domain.names),
            "bundle": given.fingerprint,
            "data": json.loads(content),
        },
    }


@dataclass(frozen=True)
class AskedQuery:
    """The body of a query."""

    variables: Words
    filter: tuple[str, ...] = ()
    user: str | None = None


@dataclass(frozen=True)
class AskedData:
    """The sub-table and the format that a body, or an address, asks for."""

    variables: Words
    filter: tuple[str, ...] = ()
    format: str | None = None


def _asked_data(request: Request, body: bytes) -> AskedData:
    params = request.query_params
    if request.method == "POST" and body:
        asked = asked_as(body, AskedData)
        return replace(asked, format=asked.format or params.get("format"))
    names = [name for text in params.getlist("variables") for name in names_listed(text)]
    return asked_as({**params, "variables": names, "filter": params.getlist("filter")}, AskedData)


_ASKED: tuple[Code, ...] = (
    "invalid_query",
    "not_released",
    "too_many_cells",
    "disallowed_variable",
    "not_decided",
    "not_json",
    "forbidden",
    "unknown_table",
)
_ASKED_IN_ADDRESS = (
    asked("variables", schema_of(Word), "A,B or A,B@level; a name with a comma in quotes.", required=True),
    asked(
        "filter",
        TEXT,
        "A=a1,a2: of the asked variable A only these; of another, only records with these. A:name=a1,a2: a group.",
    ),
    asked("format", FORMAT, "Else by Accept."),
)
_FILE_OR_PUT_OFF = {200: FILE, 202: Decision, 304: None}

ROUTES = (
    Address("/config", config),
    Address("/tables", tables),
    Address("/tables/{id}/metadata", metadata, "unknown_table"),
    Address(
        "/tables/{id}/data",
        data,
        *_ASKED,
        "not_acceptable",
        parameters=_ASKED_IN_ADDRESS,
        answers=_FILE_OR_PUT_OFF,
    ),
    Address(
        "/tables/{id}/data",
        data,
        *_ASKED,
        "not_acceptable",
        method="POST",
        body=schema_of(AskedData, closed=True, format=FORMAT),
        answers=_FILE_OR_PUT_OFF,
    ),
    Address(
        "/tables/{id}/queries",
        ask,
        *_ASKED,
        method="POST",
        body=schema_of(AskedQuery, closed=True),
        answers={201: Decided, 202: Decision},
    ),
    Address("/tables/{id}/frontier", frontier, "unknown_table"),
    Address("/queries/{number:int}", query, "not_found", answers={200: Decided}, cache="no-store"),
    Address(
        "/queries/{number:int}/votes",
        vote,
        *("not_found", "not_released", "not_json", "forbidden"),
        method="POST",
        answers={200: Decided, 201: Decided, 202: Decision},
        cache="no-store",
    ),
    Address(
        "/bundles/{fingerprint}", bundle, "not_found", answers={200: {"application/zip": TEXT}, 304: None}
    ),
    Address("/health", health, cache="no-store"),
    Address("/metrics", metrics, "forbidden", answers={200: {"text/plain": TEXT}}),
)
