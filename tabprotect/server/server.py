"""One running server: what every request is answered from."""

from __future__ import annotations

import hashlib
import hmac
import threading
from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from typing import cast

from anyio import CapacityLimiter
from starlette.requests import HTTPConnection, Request

from tabprotect.languages.messages import joined, message
from tabprotect.server.accounting.accounts import Account, Accounts
from tabprotect.server.accounting.sessions import Sessions
from tabprotect.server.guard.boundary import client_address, is_secure
from tabprotect.server.guard.limiter import Limiter
from tabprotect.server.problems import HttpProblem
from tabprotect.server.served_table import ServedTable
from tabprotect.server.service import RequestLimits, Service


class Metrics:
    """Counts since the process began. Nothing of a table is in them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._statuses: Counter[int] = Counter()
        self._decisions: Counter[str] = Counter()
        self._seconds = 0.0

    def responded(self, status: int, seconds: float) -> None:
        """A response has left."""
        with self._lock:
            self._statuses[status] += 1
            self._seconds += seconds

    def decided(self, decision: str) -> None:
        """A request for a sub-table was decided."""
        with self._lock:
            self._decisions[decision] += 1

    def text(self) -> str:
        """All figures."""
        with self._lock:
            lines = ["# TYPE tabprotect_responses_total counter"]
            for status, count in sorted(self._statuses.items()):
                lines.append(f'tabprotect_responses_total{{status="{status}"}} {count}')
            lines.append("# TYPE tabprotect_response_seconds_total counter")
            lines.append(f"tabprotect_response_seconds_total {self._seconds:.6f}")
            lines.append("# TYPE tabprotect_decisions_total counter")
            for decision, count in sorted(self._decisions.items()):
                lines.append(f'tabprotect_decisions_total{{decision="{decision}"}} {count}')
        return joined(lines, "\n") + "\n"


COOKIE = "tabprotect-session"

SECURE = "__Host-"
"""Before the name of a cookie on an encrypted connection: no other host can set it then."""

KEY_WINDOW = 60
"""Seconds in which keys that are not good are counted."""

WRONG_OF_MARK, WRONG_OF_ADDRESS = 10, 100
"""Keys that are not good, of one mark and from one address, before none is looked at."""


@dataclass(frozen=True)
class Visitor:
    """The maker of a request.

    Attributes
    ----------
    client
        By what requests are counted: the account, else the address.
    """

    client: str
    account: Account | None
    limits: RequestLimits

    @property
    def role(self) -> str:
        """``user``, ``operator`` or ``auditor``; empty without an account."""
        return "" if self.account is None else self.account.role


FILES = 256
"""Files of answers that are kept at hand; an answer never changes."""


@dataclass
class Server:
    """A service with all that is running for it."""

    service: Service
    table: ServedTable
    accounts: Accounts
    sessions: Sessions
    secret: bytes = field(repr=False)
    limiter: Limiter = field(default_factory=Limiter)
    key_threads: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(2))
    """Of looking for keys, which hashes: what waits for them keeps no thread from a page."""
    metrics: Metrics = field(default_factory=Metrics)
    _files: OrderedDict[str, bytes] = field(default_factory=OrderedDict)

    def file(self, tag: str) -> bytes | None:
        """The file with an ETag, if it is at hand."""
        return self._files.get(tag)

    def store(self, tag: str, content: bytes) -> None:
        """Keep a file at hand; the oldest one makes room."""
        self._files[tag] = content
        if len(self._files) > FILES:
            self._files.popitem(last=False)

    def close(self) -> None:
        """Let go of the databases."""
        self.accounts.close()
        self.sessions.close()
        self.table.close()

    def cookie_name(self, connection: HTTPConnection, name: str = COOKIE) -> str:
        """The name under which a browser keeps a cookie of this server's."""
        return f"{SECURE}{name}" if is_secure(connection, self.service.access) else name

    def session_of(self, connection: HTTPConnection) -> str:
        """The token of the browser's session; empty for none."""
        return connection.cookies.get(self.cookie_name(connection), "")

    def names_itself(self, connection: HTTPConnection) -> bool:
        """Return True if there is a key or a session to look up."""
        headers = connection.headers
        return "authorization" in headers or "x-api-key" in headers or bool(self.session_of(connection))

    def visitor(self, connection: HTTPConnection) -> Visitor:
        """Return who asks, by key, by session or by address.

        Raises
        ------
        Problem
            ``unauthorised`` for a key or a session that is not, or no longer, good.
        """
        address = client_address(connection, self.service.access)
        account = self._by_key(connection) or self._by_session(connection)
        if account is None:
            return Visitor(message("address {address}", address), None, self.service.limits)
        limits = self.service.groups.get(account.group, self.service.limits)
        return Visitor(message("account {name}", account.name), account, limits)

    def _by_key(self, connection: HTTPConnection) -> Account | None:
        said = connection.headers.get("authorization", "")
        scheme, _, key = said.partition(" ")
        key = key.strip() if scheme.lower() == "bearer" else connection.headers.get("x-api-key", "")
        if not key:
            return None
        found = self.account_of(key, connection)
        if found is None:
            raise HttpProblem(
                "unauthorised",
                message("this key is not valid"),
                headers={"WWW-Authenticate": message("Bearer")},
            )
        return found

    def account_of(self, key: str, connection: HTTPConnection) -> Account | None:
        """Return whose key this is; ``None`` for one that is not good.

        Raises
        ------
        HttpProblem
            ``rate_limited`` after too many that were not: nothing is hashed then.
        """
        known = self.accounts.at_hand(key)
        if known is not None:
            return known
        address = client_address(connection, self.service.access)
        mark = key.split("_")[1][:40] if key.count("_") > 1 else ""
        counted = [(f"wrong keys from {address}", WRONG_OF_ADDRESS)]
        counted += [(f"wrong keys of {mark}", WRONG_OF_MARK)] if mark else []
        # Counted before it is hashed: of many at once no more are hashed than may be wrong.
        for at, (client, most) in enumerate(counted):
            left = self.limiter.take(client, most, KEY_WINDOW)
            if not left.allowed:
                for before, _ in counted[:at]:
                    self.limiter.give_back(before)
                raise HttpProblem(
                    "rate_limited", message("too many keys that are not valid"), headers=left.headers
                )
        found = self.accounts.by_key(key)
        if found is not None:
            for client, _ in counted:
                self.limiter.give_back(client)
        return found

    def _by_session(self, connection: HTTPConnection) -> Account | None:
        mark = self.sessions.mark_of(self.session_of(connection))
        return None if mark is None else self.accounts.by_mark(mark)

    def signed(self, purpose: str, text: str) -> str:
        """A signature that only servers with this secret can make."""
        said = f"{purpose}:{text}".encode(errors="surrogatepass")
        return hmac.new(self.secret, said, hashlib.sha256).hexdigest()


def server_of(request: Request) -> Server:
    """Return what is running."""
    return cast(Server, request.app.state.server)


def visitor_of(request: Request) -> Visitor:
    """Return who asks."""
    return cast(Visitor, request.scope["tabprotect.visitor"])
