"""Requests of every kind, and whether what comes back may: a served table whose counts can be told
apart wherever they stand."""

from __future__ import annotations

import asyncio
import gzip
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlencode

import numpy as np
from table_server import czech

from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.server.application import application, started
from tabprotect.server.egress import OUTPUTS
from tabprotect.server.problems import STATUS
from tabprotect.server.service import TableSource

NAMES = ("A", "B", "C", "D", "E")
NUMBER = re.compile(rb"[0-9]{6,}")


def marked_table(path: Path) -> Table:
    """2^5 cells of seven digits, no sum of which looks like another one, but for a few of 1 and 2."""
    rng = np.random.default_rng(7)
    counts = rng.integers(1_000_000, 9_000_000, (2,) * 5)
    counts.reshape(-1)[rng.choice(32, 3, replace=False)] = [1, 2, 1]
    table = Table.dense(Domain.of_shape((2,) * 5, list(NAMES)), counts)
    rows = [",".join((*NAMES, "count"))]
    for index in np.ndindex(counts.shape):
        rows.append(",".join((*table.domain.labels(index), str(counts[index]))))
    path.write_text("\n".join(rows) + "\n")
    return table


def secrets_of(table: Table, released: list[tuple[str, ...]]) -> set[bytes]:
    """The counts, as they would be written, of all sub-tables that are not released."""
    out, known = set[int](), set[int]()
    for query in range(1 << len(NAMES)):
        names = tuple(n for v, n in enumerate(NAMES) if query >> v & 1)
        counts = table.margin(names).counts.ravel().tolist()
        inside = any(set(names) <= set(other) for other in released)
        (known if inside or not names else out).update(counts)
    return {str(count).encode() for count in out - known if count >= 10**6}


def odd_request(rng: random.Random) -> tuple[str, str, list[tuple[bytes, bytes]], bytes]:
    """A method, an address, headers and a body; two in three nearly make sense."""
    pick = rng.choice
    junk = [
        "",
        "x",
        "A@x",
        "Z",
        '"A',
        "ä",
        "A,B",
        "\0",
        "../",
        "'; DROP TABLE entry; --",
        "%s",
        "=",
        "a" * 300,
    ]
    names = [pick([*NAMES, *NAMES, *NAMES, pick(junk)]) for _ in range(pick([0, 1, 2, 2, 3, 4, 5]))]
    filters = [
        f"{pick(NAMES)}={pick(['a1', 'b2', 'c1', 'e1,e2', pick(junk)])}" for _ in range(pick([0, 0, 0, 1, 2]))
    ]
    formats = pick([None, *OUTPUTS, "CSV", "matrix", pick(junk)])
    tables = ["t"] * 10 + ["x", pick(junk)]
    places = [
        f"/tables/{quote(pick(tables))}/data", f"/tables/{quote(pick(tables))}/data",
        f"/tables/{quote(pick(tables))}/queries", f"/tables/{quote(pick(tables))}/queries",
        f"/tables/{quote(pick(tables))}/{pick(['metadata', 'frontier', 'data/', '..', pick(junk)])}",
        f"/queries/{pick([1, 2, 3, -1, 10**30, 'x', 0])}", f"/queries/{rng.randrange(99)}/votes",
        f"/bundles/{pick(['0' * 64, 'x', 'A' * 64])}", "/config", "/tables", "/health", "/metrics",
        "/", "/look", "/ask", "/frontier", "/mine", "/sign-in", "/operator", "/operator/log", "/operator/freeze",
        f"/answers/{rng.randrange(50)}", "/" + quote(pick(junk)), "/" + "a" * pick([10, 9000]),
        "/tables/t/data%00", "//tables/t/data", "/tables/t/../t/data", "/TABLES/t/data",
    ]  # fmt: skip
    params = [("filter", text) for text in filters]
    if names:
        params.append(("variables", ",".join(names)))
    if formats is not None:
        params.append(("format", formats))
    if rng.random() < 0.05:
        params.append((pick(junk) or "y", pick(junk)))
    odd = rng.random() < 0.1
    place = pick(places if rng.random() < 0.5 else places[:5])
    usual = "POST" if place.endswith("queries") or rng.random() < 0.1 else "GET"
    method = pick(["PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "x"]) if odd else usual
    said: dict[str, Any] = {"variables": names, "filter": filters, "format": formats}
    said |= {"user": pick(["ann", "", "\n", "a" * 200, 5, None, pick(junk)])}
    kept = {key: value for key, value in said.items() if rng.random() < 0.6}
    bodies = [
        b"", json.dumps(kept).encode(), json.dumps({"variables": names}).encode(),
        json.dumps({"variables": pick([1, None, "A", {}, [names], [1], names * 50])}).encode(),
        b"{" * pick([1, 3000]), b"[" * 9000, rng.randbytes(30), b" " * 20_000, urlencode(params).encode(),
        b'{"variables": ["A"], "variables": ["A", "B", "C"]}', b"\xef\xbb\xbf{}", b'{"variables": [NaN]}', gzip.compress(b"{}"),
    ]  # fmt: skip
    body = pick(bodies[:3]) if rng.random() < 0.7 else pick(bodies)
    headers = [
        (b"accept", b"*/*"), (b"accept", b"text/csv;q=0.1, application/xml"), (b"accept", b"image/png"),
        (b"accept", b"q=;;;"), (b"accept", b"text/html"), (b"if-none-match", b"*"), (b"if-none-match", b'"x"'),
        (b"x-api-key", b"tp_0_0"), (b"authorization", b"Bearer tp_x_y"), (b"authorization", b"Basic eDp5"),
        (b"cookie", b"tabprotect-session=a.b; x=\xff"), (b"cookie", b";;;=" * 50), (b"range", b"bytes=0-10"),
        (b"x-http-method-override", b"POST"), (b"content-length", b"-5"), (b"content-length", b"x"),
        (b"content-length", b"99999999999999999999"), (b"transfer-encoding", b"chunked"), (b"content-type", b"\xff"),
        (b"content-type", b"application/x-www-form-urlencoded"), (b"x-forwarded-for", b"1.2.3.4, \xff"),
        (b"accept-language", b"xx-" * 100), (b"host", b"evil.example"), (b"origin", b"null"), (b"x", b"y" * 5000),
    ]  # fmt: skip
    chosen = [pick(headers) for _ in range(pick([0, 0, 0, 0, 1, 2]))]
    if rng.random() < 0.9:
        chosen.append((b"content-type", b"application/json"))
    return method, f"{place}?{urlencode(params)}", chosen, body


def answers_only_what_is_released(folder: Path, number: int, seed: int = 0) -> Counter[int]:
    """Send so many odd requests, and check whatever comes back; how often each status came.

    Nothing may be a fault of the server's, nothing may hold a count of a sub-table that was not
    released, refusals are problems of a documented kind, and the history is sound in the end.
    """
    table = marked_table(folder / "t.csv")
    service = replace(czech(threshold=20_000_000), table=TableSource(str(folder / "t.csv"), "t", "t"))
    server = started(service, str(folder / "h.sqlite"))
    app = application(server)
    rng, seen = random.Random(seed), Counter[int]()
    released: tuple[Query, ...] = ()
    secrets = secrets_of(table, [])

    async def run() -> None:
        nonlocal released, secrets
        for turn in range(number):
            request = odd_request(rng)
            status, headers, content = await sent(app, *request)
            where = (turn, request[:2], status, content[:300])
            seen[status] += 1
            now = server.table.state.releases.released.members
            if now != released:
                released = now
                secrets = secrets_of(table, list(map(server.table.lattice.names_of, now)))
            assert status < 500, where
            assert secrets.isdisjoint(NUMBER.findall(content)), where
            media = headers.get(b"content-type", b"").partition(b";")[0]
            if media == b"application/problem+json" and content:
                said = json.loads(content)
                assert STATUS[said["code"]] == said["status"] == status, where
            elif status >= 400 and content:
                # Pages tell refusals in words.
                assert media == b"text/html", where
        assert server.table.verified().lines == server.table.length

    try:
        asyncio.run(run())
    finally:
        server.close()
    return seen


async def sent(
    app: Any, method: str, address: str, headers: list[tuple[bytes, bytes]], body: bytes
) -> tuple[int, dict[bytes, bytes], bytes]:
    """One request, as an ASGI server hands it on."""
    path, _, query = address.partition("?")
    if not any(name == b"host" for name, _ in headers):
        headers = [*headers, (b"host", b"localhost")]
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method,
        "scheme": "http", "path": unquote(path), "raw_path": path.encode(), "root_path": "",
        "query_string": query.encode(), "headers": headers, "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80), "state": {},
    }  # fmt: skip
    messages: Iterator[dict[str, Any]] = iter([{"type": "http.request", "body": body}])
    status, found, parts = 0, dict[bytes, bytes](), list[bytes]()

    async def receive() -> dict[str, Any]:
        return next(messages, {"type": "http.disconnect"})

    async def send(message: dict[str, Any]) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
            found.update(message["headers"])
        else:
            parts.append(message.get("body", b""))

    await app(scope, receive, send)
    return status, found, b"".join(parts)
