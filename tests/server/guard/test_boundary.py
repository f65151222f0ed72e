"""Where requests come from: other sites, other hosts, proxies; sessions, keys and the secret."""

from __future__ import annotations

import re
import sqlite3
import stat
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from argon2.exceptions import VerificationError
from server_attacks import attacked
from starlette.requests import HTTPConnection
from table_server import QUICK, Client, Serve, czech

from tabprotect.engine.errors import InputError
from tabprotect.server.accounting import sessions
from tabprotect.server.accounting.accounts import HASHED_AT_ONCE
from tabprotect.server.accounting.secret import SECRET, server_secret
from tabprotect.server.accounting.sessions import LIFE, REST
from tabprotect.server.guard import boundary
from tabprotect.server.guard.boundary import client_address, is_local, is_secure
from tabprotect.server.guard.limiter import Limiter
from tabprotect.server.problems import HttpProblem
from tabprotect.server.service import Access, check_access
from tests.server.test_attacks import ours
from tests.server.test_house import sign_in, token

TABLE = "/tables/czech-autoworkers"
ASK = f"{TABLE}/queries"
JSON = {"Content-Type": "application/json"}


WAYS: list[tuple[int, Mapping[str, str]]] = [
    (201, JSON),
    (201, {"Content-Type": "application/json; charset=utf-8"}),
    (201, JSON | {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}),
    (201, JSON | {"Sec-Fetch-Site": "none"}),
    (415, {"Content-Type": "text/plain"}),
    (415, {"Content-Type": "application/x-www-form-urlencoded"}),
    (415, {}),
    (403, JSON | {"Origin": "http://evil.example"}),
    (403, JSON | {"Origin": "null"}),
    (403, JSON | {"Origin": "http://localhost.evil.example"}),
    (403, JSON | {"Origin": "http://localhost:81"}),
    (403, JSON | {"Origin": "file://localhost"}),
    (403, JSON | {"Sec-Fetch-Site": "cross-site"}),
    (403, JSON | {"Origin": "http://localhost", "Sec-Fetch-Site": "same-site"}),
    (400, JSON | {"Host": "evil.example"}),
    (400, JSON | {"Host": "localhost.evil.example"}),
    (400, JSON | {"Host": ""}),
    (400, JSON | {"Content-Length": "21", "Transfer-Encoding": "chunked"}),
]


def test_what_may_decide(serve: Serve) -> None:
    client, decided = serve(), 0
    for status, headers in WAYS:
        response = client("POST", ASK, content=b'{"variables": ["A"]}', headers=headers)
        assert response.status_code == status, headers
        decided += status == 201
        assert client.server.table.length == decided


def test_reading_decides_nothing(serve: Serve) -> None:
    client = serve()
    address = f"{TABLE}/data?variables=A,B"
    for method in ("GET", "HEAD"):
        assert client(method, address).status_code == 404
    assert client.get(address).json()["code"] == "not_decided"
    assert client.server.table.length == 0
    assert client("POST", f"{TABLE}/data", json={"variables": ["A", "B"]}).status_code == 200
    assert client.get(address).status_code == 200
    # What is inside of what is out is out: it is read, once it was asked for.
    assert client.get(f"{TABLE}/data?variables=A").json()["code"] == "not_decided"
    foreign = {"Origin": "https://news.example"}
    shared = client.get(address, headers=foreign)
    assert shared.status_code == 200 and "access-control-allow-origin" not in shared.headers


def test_pages_elsewhere_may_show_what_is_out(serve: Serve) -> None:
    allowed = "https://news.example"
    client = serve(replace(czech(), access=Access(prices=False, allowed_origins=(allowed,))))
    client.ask("A")
    address = f"{TABLE}/data?variables=A"
    there = client.get(address, headers={"Origin": allowed}).headers
    assert there["access-control-allow-origin"] == allowed and "Origin" in there["vary"]
    assert there["cross-origin-resource-policy"] == "cross-origin"
    for origin, path in (("https://evil.example", address), (allowed, "/operator"), (allowed, "/")):
        assert "access-control-allow-origin" not in client.get(path, headers={"Origin": origin}).headers
    refused = client("POST", ASK, json={"variables": ["B"]}, headers={"Origin": allowed})
    assert refused.status_code == 403
    assert "access-control-allow-origin" not in refused.headers
    for wrong in (Access(allowed_origins=("news.example",)), Access(trusted_proxy=("X-Real-IP",))):
        with pytest.raises(InputError):
            check_access(wrong)


def connection(client: str, headers: Mapping[str, str], server: str = "10.0.0.1") -> HTTPConnection:
    raw = [(n.lower().encode(), v.encode()) for n, v in headers.items()]
    scope: dict[str, Any] = {"type": "http", "scheme": "http", "headers": raw}
    return HTTPConnection(scope | {"client": (client, 1), "server": (server, 80)})


@pytest.mark.parametrize(
    ("client", "said", "address"),
    [
        ("203.0.113.9", "198.51.100.1", "203.0.113.9"),
        ("127.0.0.1", "198.51.100.1", "198.51.100.1"),
        # What the client itself wrote stands before what the proxy has seen.
        ("127.0.0.1", "1.1.1.1, 198.51.100.1", "198.51.100.1"),
        ("127.0.0.1", "1.1.1.1, 198.51.100.1, 192.168.7.7", "198.51.100.1"),
        ("127.0.0.1", "", "127.0.0.1"),
        ("127.0.0.2", "198.51.100.1", "127.0.0.2"),
        # One customer has a whole /64 of addresses.
        ("2001:db8:1:2:3:4:5:6", "", "2001:db8:1:2::/64"),
        ("127.0.0.1", "2001:db8::7", "2001:db8::/64"),
        ("::ffff:203.0.113.9", "", "203.0.113.9"),
    ],
)
def test_only_a_trusted_proxy_says_who_asks(client: str, said: str, address: str) -> None:
    access = Access(trusted_proxy=("127.0.0.1", "192.168.0.0/16"))
    heard = {"X-Forwarded-For": said, "X-Forwarded-Proto": "https"}
    asked = connection(client, heard)
    assert client_address(asked, access) == address
    assert is_secure(asked, access) == (client == "127.0.0.1")
    plain = Access()
    assert client_address(asked, plain) == client_address(connection(client, {}), plain)
    assert not is_secure(asked, plain)
    assert is_local(connection("127.0.0.1", {}, "127.0.0.1"), plain)
    assert not is_local(connection("127.0.0.1", {}, "10.0.0.1"), plain)
    assert not is_local(connection("127.0.0.1", {"X-Forwarded-For": "8.8.8.8"}, "::1"), access)


def test_a_proxy_that_nobody_named_is_told_of_once(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    for proxies, times in (((), 1), (("127.0.0.1",), 0)):
        caplog.clear()
        client = serve(replace(czech(), access=Access(prices=False, trusted_proxy=proxies)))
        for _ in range(3):
            client("GET", TABLE, headers={"X-Forwarded-For": "8.8.8.8"})
        assert caplog.text.count("no trusted_proxy is named") == times


def test_a_forged_address_is_counted_as_what_it_is(serve: Serve) -> None:
    client = serve(czech(limits=replace(QUICK, requests=5)))
    client.server.limiter = Limiter(clock=lambda: 0.0)
    asked = [client.get("/tables", headers={"X-Forwarded-For": f"9.9.9.{n}"}) for n in range(8)]
    assert [r.status_code for r in asked] == [200] * 5 + [429] * 3


def test_wrong_keys_are_not_looked_at_for_ever(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    client = serve()
    now = [0.0]
    client.server.limiter = Limiter(clock=lambda: now[0])
    key = client.server.accounts.add("ann")
    hashed = []
    verify = client.server.accounts._hasher.verify
    monkeypatch.setattr(
        type(client.server.accounts._hasher),
        "verify",
        lambda self, *given: hashed.append(1) or verify(*given),
    )
    wrong = {"Authorization": f"Bearer {key[:-1]}{'x' if key[-1] != 'x' else 'y'}"}
    statuses = [client.get("/tables", headers=wrong).status_code for _ in range(14)]
    assert statuses == [401] * 10 + [429] * 4 and len(hashed) == 10
    limited = client.get("/tables", headers=wrong)
    assert 0 < int(limited.headers["retry-after"]) <= 60
    form = {"csrf": token(client, "/sign-in"), "key": wrong["Authorization"].split()[1]}
    assert client("POST", "/sign-in", data=form).status_code == 429
    # The mark is not known by then: others of the address go on, up to a hundred.
    marks = [{"X-API-Key": f"tp_{n:016}_{'x' * 40}"} for n in range(95)]
    statuses = [client.get("/tables", headers=one).status_code for one in marks]
    assert statuses == [401] * 90 + [429] * 5
    now[0] = 60.0
    assert client.get("/tables", headers={"X-API-Key": key}).status_code == 200
    assert isinstance(client.server.accounts._hashing, threading.BoundedSemaphore)
    assert client.server.accounts._hashing._value == HASHED_AT_ONCE


def test_many_wrong_keys_at_once_are_counted_before_they_are_hashed(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve().server
    server.limiter = Limiter(clock=lambda: 0.0)
    mark = server.accounts.add("ann").split("_")[1]
    hashed: list[int] = []

    def verify(self: object, *given: object) -> None:
        hashed.append(1)
        # All others come while the first ones are at it.
        time.sleep(0.2)
        raise VerificationError

    monkeypatch.setattr(type(server.accounts._hasher), "verify", verify)

    def asked(n: int) -> str:
        try:
            return str(server.account_of(f"tp_{mark}_{n:040}", connection("203.0.113.9", {})))
        except HttpProblem as problem:
            return problem.code

    with ThreadPoolExecutor(40) as threads:
        answers = sorted(threads.map(asked, range(40)))
    assert answers == ["None"] * 10 + ["rate_limited"] * 30 and len(hashed) == 10
    # Pages do not wait for those that are hashed.
    assert server.key_threads.total_tokens == 2


def test_a_session_ends(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    client = serve()
    now = [1_000_000.0]
    client.server.sessions._clock = lambda: now[0]
    sign_in(client, "olga", "operator")
    assert client.get("/operator").status_code == 200
    # Used every twenty minutes it lasts, for twelve hours.
    for _ in range(35):
        now[0] += 1_200
        assert client.get("/operator").status_code == 200
    now[0] = 1_000_000.0 + LIFE
    assert client.get("/operator").status_code == 401
    client.server.limiter = Limiter()
    sign_in(client, "ole", "operator")
    now[0] += REST
    assert client.get("/operator").status_code == 401
    # Signed out, the same cookie opens nothing.
    sign_in(client, "oda", "operator")
    kept = client.cookies.get("tabprotect-session") or ""
    assert client("POST", "/sign-out", data={"csrf": token(client, "/operator")}).status_code == 303
    client.cookies = httpx.Cookies({"tabprotect-session": kept})
    assert kept and client.get("/operator").status_code == 401
    assert sessions.REST == 1_800


def test_a_form_belongs_to_its_session(serve: Serve) -> None:
    client = serve()
    stranger = token(client, "/sign-in")
    browser = client.cookies
    sign_in(client, "olga", "operator")
    assert client("POST", "/operator/vacuum", data={"csrf": stranger}).status_code == 403
    own = token(client, "/operator")
    assert client("POST", "/operator/vacuum", data={"csrf": own}).status_code == 303
    foreign = {"Origin": "http://evil.example"}
    form = {"csrf": own}
    assert client("POST", "/operator/vacuum", data=form, headers=foreign).status_code == 403
    client.cookies = browser
    assert client("POST", "/ask", data={"csrf": own, "variables": "A"}).status_code == 403


def test_over_tls_cookies_are_of_this_host_alone(serve: Serve) -> None:
    access = Access(prices=False, trusted_proxy=("127.0.0.1",))
    client = serve(replace(czech(), access=access))
    plain = client.get("/")
    assert "strict-transport-security" not in plain.headers
    assert plain.headers["set-cookie"].startswith("tabprotect-visitor=")
    safe = client.get("/", headers={"X-Forwarded-Proto": "https"})
    assert safe.headers["strict-transport-security"].startswith("max-age=")
    said = safe.headers["set-cookie"]
    assert said.startswith("__Host-tabprotect-visitor=")
    assert {"Secure", "HttpOnly", "Path=/", "SameSite=strict"} <= set(re.split("; ", said))


def test_the_database_makes_nobody_an_operator(
    serve: Serve, tmp_path: Path, house_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = serve()
    sign_in(client, "olga", "operator")
    cookie = client.cookies.get("tabprotect-session") or ""
    path = house_folder / "table-server.secret"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    content = (tmp_path / "server0.sqlite").read_bytes()
    assert path.read_bytes().strip() not in content and cookie.encode() not in content
    with closing(sqlite3.connect(tmp_path / "server0.sqlite")) as database:
        assert database.execute("SELECT secret FROM history").fetchall() == [("",)]
        [(token_kept,)] = database.execute("SELECT token FROM browser_session").fetchall()
    client.cookies = httpx.Cookies({"tabprotect-session": token_kept})
    assert client.get("/operator").status_code == 401
    path.chmod(0o644)
    with pytest.raises(InputError, match="may be read by others"):
        server_secret("")
    monkeypatch.setenv(SECRET, "short")
    with pytest.raises(InputError, match="is short"):
        server_secret("")
    monkeypatch.setenv(SECRET, "x" * 32)
    assert server_secret("") == b"x" * 32


def test_what_is_offered_follows_from_what_was_decided(serve: Serve) -> None:
    source = "example:czech-autoworkers"
    service = czech(threshold=10)
    client = serve(replace(service, table=replace(service.table, source=source, disallowed=("F",))))
    before = client.get(f"{TABLE}/metadata").json()
    assert before["disallowed"] == ["F"] and [v["id"] for v in before["variables"]] == list("ABCDE")
    assert client.ask("F", "A").json()["code"] == "disallowed_variable"
    (entry, _), *_ = client.server.table.log(1, 1)
    assert (entry.line.user, entry.line.kind, entry.line.query) == ("anonymous", "disallowed", 33)
    assert client.get("/queries/1").status_code == 404
    assert client.get(f"{TABLE}/metadata").json() == before
    assert client.server.table.verified().lines == 1


def test_figures_are_for_this_machine_or_the_house(serve: Serve) -> None:
    client = serve(replace(czech(), access=Access(prices=False, trusted_proxy=("127.0.0.1",))))
    assert client.get("/metrics").status_code == 200
    outside = {"X-Forwarded-For": "198.51.100.1"}
    assert client.get("/metrics", headers=outside).status_code == 401
    for role, status in (("user", 403), ("auditor", 200)):
        key = client.server.accounts.add(role, role)  # type: ignore[arg-type]
        given = client.get("/metrics", headers=outside | {"X-API-Key": key})
        assert given.status_code == status


def test_the_attack_on_the_boundary_bites(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    def came(client: Client) -> tuple[int, int]:
        client.server.limiter = Limiter(clock=lambda: 0.0)
        (found,) = (f for f in attacked(ours(client), 4) if f.name == "boundary")
        return found.succeeded, found.tried

    limits = replace(QUICK, requests=250)
    succeeded, tried = came(serve(czech(limits=limits)))
    assert succeeded == 0 and tried > 200
    # The same without a boundary.
    trusting = replace(czech(limits=limits), access=Access(prices=False, allowed_hosts=("*",)))
    careless = serve(trusting)
    monkeypatch.setattr("tabprotect.server.api.checked_decision", lambda request: None)
    monkeypatch.setattr(boundary, "is_proxy", lambda address, access: True)
    assert came(careless)[0] > 30
