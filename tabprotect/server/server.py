"""One running server: what every request is answered from."""

from __future__ import annotations

import hashlib
import hmac
import threading
from collections import Counter, OrderedDict
from dataclasses import dataclass, field

from starlette.requests import HTTPConnection

from tabprotect.languages.said import joined, say
from tabprotect.server.accounts import Account, Accounts
from tabprotect.server.limiter import Limiter
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


@dataclass(frozen=True)
class Visitor:
    """Who makes a request.

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
    limiter: Limiter = field(default_factory=Limiter)
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
        self.table.close()

    @staticmethod
    def names_itself(connection: HTTPConnection) -> bool:
        """Whether there is a key or a session to look up."""
        headers = connection.headers
        return "authorization" in headers or "x-api-key" in headers or COOKIE in connection.cookies

    def visitor(self, connection: HTTPConnection) -> Visitor:
        """Who asks, by key, by session or by address.

        Raises
        ------
        Problem
            ``unauthorised`` for a key or a session that is not, or no longer, good.
        """
        address = connection.client.host if connection.client else "unknown"
        proxy = self.service.access.trusted_proxy
        if proxy and connection.headers.get(proxy):
            # The last one is what the proxy itself has seen.
            address = connection.headers[proxy].rpartition(",")[2].strip()
        account = self._by_key(connection) or self._by_session(connection)
        if account is None:
            return Visitor(say("address {address}", address), None, self.service.limits)
        limits = self.service.groups.get(account.group, self.service.limits)
        return Visitor(say("account {name}", account.name), account, limits)

    def _by_key(self, connection: HTTPConnection) -> Account | None:
        said = connection.headers.get("authorization", "")
        scheme, _, key = said.partition(" ")
        key = key.strip() if scheme.lower() == "bearer" else connection.headers.get("x-api-key", "")
        if not key:
            return None
        found = self.accounts.by_key(key)
        if found is None:
            raise HttpProblem(
                "unauthorised",
                say("this key is not valid"),
                headers={"WWW-Authenticate": say("Bearer")},
            )
        return found

    def _by_session(self, connection: HTTPConnection) -> Account | None:
        name, _, sign = connection.cookies.get(COOKIE, "").rpartition(".")
        if not name or not hmac.compare_digest(
            sign.encode(), self.signed("session", name).encode()
        ):
            return None
        return self.accounts.by_mark(name)

    def signed(self, purpose: str, text: str) -> str:
        """A signature that only this history's servers can make."""
        said = f"{purpose}:{text}".encode()
        return hmac.new(self.table.secret, said, hashlib.sha256).hexdigest()
