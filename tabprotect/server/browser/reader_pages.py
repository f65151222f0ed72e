"""The pages: what a browser sees. Made here, whole; they work without any script."""

from __future__ import annotations

import hmac
import math
import re
import secrets
from collections.abc import Sequence
from functools import cache
from html import escape
from urllib.parse import parse_qs, urlencode

from anyio import to_thread
from jinja2 import Environment
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from tabprotect.engine.plain_values.decoding import natural
from tabprotect.engine.query_space.frontier import Frontier, maximal_queries
from tabprotect.engine.query_space.lattice import Lattice, Query, names_joined
from tabprotect.engine.query_space.table_server.decision import ServerState
from tabprotect.engine.query_space.table_server.log_entry import LogEntry
from tabprotect.languages.messages import message
from tabprotect.languages.page_texts import environment
from tabprotect.languages.translation import ENGLISH, LANGUAGES, catalogue
from tabprotect.server.api import DECISIONS, decided, identified, understood, user_of, voted
from tabprotect.server.asked_table import AskedTable
from tabprotect.server.egress import OUTPUTS, html_rows
from tabprotect.server.guard.boundary import is_secure, own_origin
from tabprotect.server.problems import TITLES, HttpProblem
from tabprotect.server.served_table import Given, ServedTable
from tabprotect.server.server import COOKIE, server_of, visitor_of
from tabprotect.version import RESOURCES

STEP, ROW, EDGE, RADIUS = 26, 90, 24, 8
"""Between two sub-tables, between two rows, around all of it; of a dot; in pixels."""

WORDS = {"released": "released", "refused": "refused", "open": message("may be asked for")}


def drawn(lattice: Lattice, released: Frontier, refused: Frontier) -> Markup:
    """The lattice, the full table at the top. Colours come from the page's style.

    Parameters
    ----------
    refused
        What users know to be refused: nothing of the confidential frontier is drawn.
    """
    rows = [list(lattice.level(size)) for size in range(lattice.variables, 0, -1)]
    width = 2 * EDGE + STEP * max(len(row) for row in rows)
    height = 2 * EDGE + ROW * (len(rows) - 1) + 2 * RADIUS
    at = {}
    for number, row in enumerate(rows):
        left = (width - STEP * (len(row) - 1)) / 2
        for place, query in enumerate(row):
            at[query] = (left + STEP * place, EDGE + RADIUS + ROW * number)
    out = [
        f'<svg class="lattice" viewBox="0 0 {width} {height}" role="img" '
        'aria-label="Every sub-table by its number of variables; released ones are filled">'
    ]
    for query, (x, y) in at.items():
        for below in lattice.below(query):
            if below:
                bx, by = at[below]
                kind = message("edge known") if query in released else "edge"
                out.append(f'<line class="{kind}" x1="{x}" y1="{y}" x2="{bx}" y2="{by}"/>')
    for query, (x, y) in at.items():
        state = "released" if query in released else "refused" if query in refused else "open"
        name = escape(", ".join(lattice.names_of(query)))
        out.append(
            f'<circle class="{state}" cx="{x}" cy="{y}" r="{RADIUS}">'
            f"<title>{name}: {WORDS[state]}</title></circle>"
        )
    return Markup("".join([*out, "</svg>"]))


VISITOR = "tabprotect-visitor"
"""A cookie that says nothing but which browser it is: forms are signed for it."""

QUERIES = "tabprotect-queries"
"""A cookie with the numbers of what was asked without an account."""

MOST_ROWS = 1_000
"""Cells of a table that is shown on the page; larger ones are files."""

LATTICE_VARIABLES = 8

_WANTED = re.compile(r"([A-Za-z][\w-]*)(?:\s*;\s*q=(1(?:\.0*)?|0?\.\d+|0))?")


def _source(name: str) -> str:
    return (RESOURCES / "server" / name).read_text("utf-8")


@cache
def _environment(language: str) -> Environment:
    """The templates in a language."""
    translated = str if language == ENGLISH else catalogue(language).translated
    return environment(_source, translated, language)


def language_of(request: Request, offered: Sequence[str]) -> str:
    """The first language of the browser's that the service offers, else the service's first."""
    wanted = [
        (-float(weight or 1), number, code.strip().partition("-")[0].lower())
        for number, (code, weight) in enumerate(
            _WANTED.findall(request.headers.get("accept-language", "")[:200])
        )
    ]
    codes = [code for code in offered if code in LANGUAGES] or [ENGLISH]
    return next((code for _, _, code in sorted(wanted) if code in codes), codes[0])


def page(request: Request, template: str, status: int = 200, **said: object) -> Response:
    """A page with its frame; forms on it are signed for this browser."""
    server, visitor = server_of(request), visitor_of(request)
    known = request.cookies.get(server.cookie_name(request, VISITOR), "")
    browser = known or secrets.token_urlsafe(16)
    spoken = language_of(request, server.service.languages)
    text = (
        _environment(spoken)
        .get_template(template)
        .render(
            title=server.service.title,
            account=visitor.account,
            role=visitor.role,
            path=request.url.path,
            csrf=_form_token(request, browser),
            **said,
        )
    )
    response = HTMLResponse(text, status_code=status, headers={"Cache-Control": "no-store"})
    set_cookie(response, request, VISITOR, browser)
    return response


def set_cookie(response: Response, request: Request, name: str, value: str) -> None:
    """A cookie that no script reads and no other site sends."""
    server = server_of(request)
    response.set_cookie(
        server.cookie_name(request, name),
        value,
        httponly=True,
        samesite="strict",
        secure=is_secure(request, server.service.access),
    )


def _form_token(request: Request, browser: str) -> str:
    """Say what a form of ours sends back: made for the session, else for the browser."""
    server, visitor = server_of(request), visitor_of(request)
    session = "" if visitor.account is None else server.session_of(request)
    return server.signed("form of a session", session) if session else server.signed("form", browser)


async def form(request: Request) -> dict[str, list[str]]:
    """Return what a page of ours sent.

    Raises
    ------
    Problem
        ``forbidden`` for a form that was not made for this browser.
    """
    try:
        said = parse_qs((await request.body()).decode(), max_num_fields=200)
    except (UnicodeDecodeError, ValueError):
        raise HttpProblem("invalid_query", message("the form cannot be read")) from None
    browser = request.cookies.get(server_of(request).cookie_name(request, VISITOR), "")
    expected = _form_token(request, browser)
    if not own_origin(request) or not hmac.compare_digest(
        said.get("csrf", [""])[0].encode(), expected.encode()
    ):
        raise HttpProblem("forbidden", message("the form is not one of this browser's: load the page again"))
    return said


async def choose(request: Request) -> Response:
    """Tick variables."""
    served = server_of(request).table
    state = await run_in_threadpool(served.refresh)
    return page(
        request,
        "choose.html",
        label=served.label,
        variables=served.offered,
        disallowed=served.lattice.names_of(served.disallowed),
        ticked=request.query_params.getlist("variables"),
        released=[served.lattice.names_of(q) for q in state.releases.released if q],
        frozen=state.frozen,
    )


async def look(request: Request) -> Response:
    """Tell whether a sub-table was answered before, may be, or never will be; nothing is decided."""
    served = server_of(request).table
    names = request.query_params.getlist("variables")
    if not names:
        return RedirectResponse("/", status_code=303)
    identified(request)
    wanted = await understood(request, names, request.query_params.getlist("filter"))
    given = await run_in_threadpool(served.known, wanted.query)
    if given is not None:
        return _shown(request, given, wanted)
    state = served.state
    standing = message("may be")
    if wanted.query in state.releases.released:
        standing = "released"
    elif wanted.query in state.refused:
        standing = "never"
    return page(
        request,
        "look.html",
        names=served.lattice.names_of(wanted.query),
        cells=math.prod(served.shape(wanted.query)),
        standing=standing,
        parts=_projection(served, state, wanted.query),
    )


async def ask(request: Request) -> Response:
    """Ask, and see the answer."""
    served = server_of(request).table
    said = await form(request)
    identified(request)
    wanted = await understood(request, said.get("variables", []), [])
    answered = await decided(request, wanted.query, user_of(request, None))
    response = RedirectResponse(f"/answers/{answered.entry.number}", status_code=303)
    if visitor_of(request).account is None:
        own = server_of(request).cookie_name(request, QUERIES)
        earlier = request.cookies.get(own, "").split("-")
        numbers = [*[n for n in earlier if natural(n) is not None][-49:], str(answered.entry.number)]
        set_cookie(response, request, QUERIES, "-".join(numbers))
    await run_in_threadpool(served.given, answered)
    return response


async def answer(request: Request) -> Response:
    """Return what became of a query."""
    served = server_of(request).table
    identified(request)
    entry = await run_in_threadpool(served.entry, request.path_params["number"])
    if entry is None or entry.line.kind not in DECISIONS:
        raise HttpProblem("not_found", message("there is no query of this number"))
    query = entry.line.query
    given = await run_in_threadpool(served.known, query)
    if given is not None:
        return _shown(request, given, AskedTable(query))
    state = served.state
    return page(
        request,
        "refused.html",
        number=entry.number,
        names=served.lattice.names_of(query),
        deferred=entry.line.kind == "deferral",
        code=DECISIONS[entry.line.kind][1],
        reason=entry.line.reason,
        permanent=entry.line.permanent,
        parts=_projection(served, state, query),
    )


async def vote(request: Request) -> Response:
    """Vote for what was put off."""
    await form(request)
    identified(request)
    number = request.path_params["number"]
    answered = await voted(request, number)
    shown = number if answered is None else answered.entry.number
    return RedirectResponse(f"/answers/{shown}", status_code=303)


async def frontier(request: Request) -> Response:
    """Return what is released: a matrix of dots and, of few variables, the lattice."""
    served = server_of(request).table
    state = await run_in_threadpool(served.refresh)
    released = [q for q in state.releases.released if q]
    few = served.lattice.variables <= LATTICE_VARIABLES
    return page(
        request,
        "frontier.html",
        names=served.lattice.names,
        rows=[(served.lattice.names_of(q), q) for q in released],
        refused=[(served.lattice.names_of(q), q) for q in state.refused],
        count=state.releases.released.size - 1,
        frozen=state.frozen,
        lattice=drawn(served.lattice, state.releases.released, state.refused) if few else None,
    )


async def mine(request: Request) -> Response:
    """One's own queries."""
    served, visitor = server_of(request).table, visitor_of(request)
    if visitor.account is not None:
        entries = await run_in_threadpool(served.queries_of, visitor.account.name)
    else:
        own = server_of(request).cookie_name(request, QUERIES)
        numbers = request.cookies.get(own, "").split("-")
        found = [
            await run_in_threadpool(served.entry, int(n)) for n in numbers[-50:] if natural(n) is not None
        ]
        entries = [e for e in reversed(found) if e is not None and e.line.kind in DECISIONS]
    rows = [
        (e.number, served.lattice.names_of(e.line.query), DECISIONS[e.line.kind][1], _since(served, e))
        for e in entries
        if e.line.kind in DECISIONS
    ]
    return page(request, "mine.html", rows=rows)


async def sign_in(request: Request) -> Response:
    """A key for a session of this browser."""
    if request.method == "GET":
        return page(request, "sign_in.html", wrong=False)
    server = server_of(request)
    said = await form(request)
    key = said.get("key", [""])[0].strip()
    account = await to_thread.run_sync(server.account_of, key, request, limiter=server.key_threads)
    if account is None:
        return page(request, "sign_in.html", 401, wrong=True)
    response = RedirectResponse("/", status_code=303)
    set_cookie(response, request, COOKIE, await run_in_threadpool(server.sessions.begin, account.mark))
    return response


async def sign_out(request: Request) -> Response:
    """End the session of this browser."""
    await form(request)
    server = server_of(request)
    await run_in_threadpool(server.sessions.end, server.session_of(request))
    response = RedirectResponse("/", status_code=303)
    response.delete_cookie(
        server.cookie_name(request),
        httponly=True,
        samesite="strict",
        secure=is_secure(request, server.service.access),
    )
    return response


async def style(request: Request) -> Response:
    """Return how pages look."""
    return PlainTextResponse(
        _source("style.css"), media_type="text/css", headers={"Cache-Control": "max-age=3600"}
    )


def problem_page(request: Request, problem: HttpProblem) -> Response:
    """A refusal, for somebody who reads pages."""
    return page(
        request,
        "problem.html",
        problem.status,
        heading=TITLES[problem.code],
        detail=problem.detail,
        code=problem.code,
    )


def _since(served: ServedTable, entry: LogEntry) -> str:
    """Say what became of a query that got no table at first."""
    given = None if entry.line.bundle else served.at_hand(entry.line.query)
    return "" if given is None else DECISIONS[given.kind][1]


def _projection(served: ServedTable, state: ServerState, query: Query) -> list[tuple[str, ...]]:
    """Return what of a sub-table is released, the largest parts alone."""
    parts = maximal_queries(member & query for member in state.releases.released)
    return [served.lattice.names_of(part) for part in parts if part]


def _shown(request: Request, given: Given, wanted: AskedTable) -> Response:
    """The page of a sub-table: its rows where it is small, and every file of it."""
    served = server_of(request).table
    table = wanted.part_of(given.table)
    names = given.table.domain.names
    return page(
        request,
        "answer.html",
        names=names,
        perturbed=given.kind == "perturbed",
        fingerprint=given.fingerprint,
        cells=table.domain.size,
        rows=html_rows(table) if table.domain.size <= MOST_ROWS else None,
        files=[(name, file_address(served.id, names, name)) for name in OUTPUTS],
    )


def file_address(table: str, names: Sequence[str], format_name: str) -> str:
    """Say where a sub-table is as a file."""
    return f"/tables/{table}/data?{urlencode({'variables': names_joined(names), 'format': format_name})}"


ROUTES = (
    Route("/", choose),
    Route("/look", look),
    Route("/ask", ask, methods=["POST"]),
    Route("/answers/{number:int}", answer),
    Route("/answers/{number:int}/vote", vote, methods=["POST"]),
    Route("/frontier", frontier),
    Route("/mine", mine),
    Route("/sign-in", sign_in, methods=["GET", "POST"]),
    Route("/sign-out", sign_out, methods=["POST"]),
    Route("/style.css", style),
)
