"""The pages of the house: log, replay, what-if, accounts, freezing; and the auditor's check."""

from __future__ import annotations

from datetime import datetime
from typing import cast

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from tabprotect.engine.chained_log import Head
from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.plain_values.decoding import natural
from tabprotect.engine.query_space.table_server.decision import LogLine
from tabprotect.languages.messages import message
from tabprotect.server.accounting.accounts import ROLES, Role
from tabprotect.server.api import with_role
from tabprotect.server.asked_table import asked_table
from tabprotect.server.browser.reader_pages import form, page
from tabprotect.server.problems import HttpProblem
from tabprotect.server.server import server_of

LINES = 100
"""Of the log on one page."""


async def overview(request: Request) -> Response:
    """Return where the service stands."""
    with_role(request, "operator", "auditor")
    server = server_of(request)
    served = server.table
    state = await run_in_threadpool(served.refresh)
    releases, names = state.releases, served.lattice.names_of
    return page(
        request,
        "house.html",
        length=await run_in_threadpool(lambda: served.length),
        released=[names(q) for q in releases.released if q],
        unreleasable=[names(q) for q in releases.unreleasable],
        counts=(releases.released.size, releases.refused, releases.undecided),
        demanded=sorted(state.demand.items(), key=lambda pair: -pair[1])[:20],
        named=names,
        frozen=state.frozen,
        perturbed=state.perturbed,
        settings=server.service.settings,
    )


async def log(request: Request) -> Response:
    """The log with its prices."""
    with_role(request, "operator", "auditor")
    served = server_of(request).table
    length = await run_in_threadpool(lambda: served.length)
    before = _number(request.query_params.get("before", str(length)), "before")
    rows = await run_in_threadpool(served.log, min(before, length), LINES)
    return page(
        request,
        "log.html",
        rows=[(entry, served.lattice.names_of(entry.line.query), price) for entry, price in rows],
        earlier=before - LINES if before > LINES else None,
    )


async def history(request: Request) -> Response:
    """Return where the service stands and the latest lines of its log, for a program that follows it."""
    with_role(request, "operator", "auditor")
    served = server_of(request).table
    length = await run_in_threadpool(lambda: served.length)
    rows = await run_in_threadpool(served.log, length, LINES)
    lattice, state = served.lattice, served.state
    said = {
        "label": served.label,
        "names": lattice.names,
        "told": lattice.coarser,
        "axes": lattice.axes,
        "length": length,
        "frozen": state.frozen,
        "released": list(state.releases.released),
        "unreleasable": list(state.releases.unreleasable),
        "lines": [entry.as_json(lattice) | {"price": price} for entry, price in rows],
    }
    return JSONResponse(said, headers={"Cache-Control": "no-store"})


async def replay(request: Request) -> Response:
    """Return what had been decided up to a number or a time."""
    with_role(request, "operator", "auditor")
    served = server_of(request).table
    text = request.query_params.get("until", "").strip()
    found: dict[str, object] | None = None
    if text:
        number, state = await run_in_threadpool(served.replayed, _until(text))
        names = served.lattice.names_of
        found = {
            "number": number,
            "released": [names(q) for q in state.released if q],
            "unreleasable": [names(q) for q in state.unreleasable],
            "counts": (state.released.size, state.refused),
        }
    return page(request, "replay.html", until=text, found=found)


async def what_if(request: Request) -> Response:
    """Return what releasing a sub-table would do; nothing is decided."""
    with_role(request, "operator")
    served = server_of(request).table
    names = request.query_params.getlist("variables")
    found: dict[str, object] | None = None
    if names:
        wanted = asked_table(served.domain, served.lattice, names)
        if not served.lattice.listed:
            raise HttpProblem(
                "invalid_query", message("there are too many sub-tables to say what would follow")
            )
        after = await run_in_threadpool(served.consequence, wanted.query)
        found = {
            "judgement": after.judgement,
            "released": after.newly_released,
            "lost": after.lost,
            "closed": [served.lattice.names_of(q) for q in after.newly_unreleasable],
            "status": served.state.releases.status(wanted.query),
        }
    return page(request, "what_if.html", variables=served.lattice.names, ticked=names, found=found)


async def accounts(request: Request) -> Response:
    """Accounts and their keys, which are shown once."""
    name = with_role(request, "operator")
    server = server_of(request)
    key = wrong = ""
    if request.method == "POST":
        given = {key: values[0].strip() for key, values in (await form(request)).items()}
        try:
            if given.get("withdraw"):
                await run_in_threadpool(server.accounts.withdraw, given["withdraw"])
                what = message("withdrew {given}", given["withdraw"])
            else:
                role = cast(Role, given.get("role", "user"))
                whom, group = given.get("name", ""), given.get("group", "")
                key = await run_in_threadpool(server.accounts.add, whom, role, group)
                what = message("made {whom}, {role}", whom, role)
            line = LogLine(name, 0, "account", None, what, "")
            await run_in_threadpool(server.table.record, line)
        except TabprotectError as error:
            wrong = error.message
    return page(
        request,
        "accounts.html",
        accounts=await run_in_threadpool(server.accounts.every),
        roles=ROLES,
        groups=["", *server.service.groups],
        key=key,
        wrong=wrong,
    )


async def freeze(request: Request) -> Response:
    """Release no further true sub-table."""
    name = with_role(request, "operator")
    await form(request)
    served = server_of(request).table
    try:
        await run_in_threadpool(served.freeze, name)
    except TabprotectError as error:
        return page(request, "not_done.html", 409, what=message("The frontier is not frozen"), error=error)
    return RedirectResponse("/operator", status_code=303)


async def vacuum(request: Request) -> Response:
    """Give back the room of the database."""
    with_role(request, "operator")
    await form(request)
    await run_in_threadpool(server_of(request).table.vacuum)
    return RedirectResponse("/operator", status_code=303)


async def verify(request: Request) -> Response:
    """Check every line of the log against the one before it."""
    with_role(request, "operator", "auditor")
    served = server_of(request).table
    head, wrong = Head(), ""
    try:
        head = await run_in_threadpool(served.verified)
    except TabprotectError as error:
        wrong = error.message
    return page(request, "verify.html", wrong=wrong, number=head.lines, chain=head.chain)


def _number(text: str, name: str) -> int:
    if natural(text) is None or len(text) > 12:
        raise HttpProblem("invalid_query", message("{name} is not a number", name))
    return int(text)


def _until(text: str) -> int | datetime:
    try:
        return _number(text, "until") if natural(text) is not None else datetime.fromisoformat(text)
    except ValueError:
        raise HttpProblem("invalid_query", message("until is a number or a time: 2026-01-31T12:00")) from None


ROUTES = (
    Route("/operator", overview),
    Route("/operator/log", log),
    Route("/operator/history", history),
    Route("/operator/replay", replay),
    Route("/operator/what-if", what_if),
    Route("/operator/accounts", accounts, methods=["GET", "POST"]),
    Route("/operator/freeze", freeze, methods=["POST"]),
    Route("/operator/vacuum", vacuum, methods=["POST"]),
    Route("/operator/verify", verify),
)
