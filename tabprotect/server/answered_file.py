"""A sub-table that is out as the answer to a request: a file that never changes."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from tabprotect.engine.bundle.tables.about import NOTHING
from tabprotect.engine.formats.statuses import COUNT
from tabprotect.engine.tables.cube import About, Cube
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Variable
from tabprotect.languages.messages import message
from tabprotect.server.asked_table import CONTENTS, AskedTable
from tabprotect.server.egress import ServedFormat
from tabprotect.server.served_table import Given
from tabprotect.server.server import Server, server_of

FOR_EVER = "max-age=31536000, immutable"


async def file_answer(request: Request, given: Given, output: ServedFormat, wanted: AskedTable) -> Response:
    """A sub-table that is out, as a file that may be kept for ever."""
    server = server_of(request)
    tag = etag(given, output, wanted)
    headers = {
        "ETag": tag,
        "Cache-Control": (
            message("public, {FOR_EVER}", FOR_EVER)
            if server.service.access.anonymous
            else message("private, {FOR_EVER}", FOR_EVER)
        ),
        "Vary": message("Accept, Authorization"),
        "Link": f'</bundles/{given.fingerprint}>; rel="describedby"',
    }
    if tag in [part.strip() for part in request.headers.get("if-none-match", "").split(",")]:
        return Response(status_code=304, headers=headers)
    content = server.file(tag)
    if content is None:
        content = await run_in_threadpool(written, server, given, output, wanted)
        server.store(tag, content)
    name = f"{given.fingerprint[:12]}.{output.suffix}"
    headers["Content-Disposition"] = f'inline; filename="{name}"'
    return Response(content, media_type=output.media, headers=headers)


def etag(given: Given, output: ServedFormat, wanted: AskedTable) -> str:
    """Say what tells one file from another: the bundle, the sub-table, the format and what is shown."""
    shown = sorted((name, kept) for name, kept in wanted.shown.items())
    said = json.dumps([given.fingerprint, wanted.query, output.name, shown, *wanted.layout])
    return f'"{hashlib.sha256(said.encode()).hexdigest()[:32]}"'


def written(server: Server, given: Given, output: ServedFormat, wanted: AskedTable) -> bytes:
    """A sub-table as bytes: the one way out of every page and every route."""
    names = ", ".join(given.table.domain.names)
    title = (
        message("{label}: {names} (perturbed)", server.table.label, names)
        if given.kind == "perturbed"
        else message("{label}: {names}", server.table.label, names)
    )
    return output.write(_cube(server, given, wanted, NOTHING.of(title)))


def _cube(server: Server, given: Given, wanted: AskedTable, about: About) -> Cube:
    """What is shown of a sub-table, with the figures that are asked for beside each count."""
    cube = Cube(wanted.part_of(given.table), about=about)
    if not wanted.figures:
        return cube
    # Late: a server that tells no intervals waits for nothing that computes posteriors.
    from tabprotect.engine.bundle.tables.intervals import beside_counts

    found = {
        name: wanted.part_of(Table.dense(given.table.domain, values)).counts
        for name, values in server.table.doubt(given).items()
    }
    cube = beside_counts(cube, found)
    *front, last = cube.table.domain.variables
    chosen = [last.categories.index(name) for name in wanted.figures]
    domain = Domain((*front, Variable(CONTENTS, wanted.figures)))
    table = Table.dense(domain, cube.table.counts.take(chosen, axis=-1))
    # Columns side by side begin with the count.
    figures = CONTENTS if wanted.figures[0] == COUNT else ""
    return replace(cube, table=table, figures=figures)
