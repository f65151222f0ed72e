"""Rate limits: how many requests one user or address may make in a window of time."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

MOST_CLIENTS = 100_000
"""Clients that are counted; the ones seen least recently are forgotten first."""


@dataclass(frozen=True)
class Allowance:
    """The allowance that a client has left.

    Attributes
    ----------
    reset
        Whole seconds until the window is over.
    """

    limit: int
    remaining: int
    reset: int
    allowed: bool

    @property
    def headers(self) -> dict[str, str]:
        """The response headers that say it."""
        said = {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(self.remaining),
            "X-RateLimit-Reset": str(self.reset),
        }
        return said if self.allowed else said | {"Retry-After": str(max(1, self.reset))}


@dataclass
class _Window:
    begun: float
    used: int = 0


@dataclass
class Limiter:
    """Counts requests, each process for itself.

    Attributes
    ----------
    clock
        Seconds that never go backwards: moving the clock of the machine changes nothing.
    """

    clock: Callable[[], float] = time.monotonic
    _windows: OrderedDict[str, _Window] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, client: str, limit: int, window: int) -> Allowance:
        """Count one request of a client, or refuse it."""
        with self._lock:
            return self._taken(client, limit, window)

    def _taken(self, client: str, limit: int, window: int) -> Allowance:
        now = self.clock()
        found = self._windows.pop(client, None)
        if found is None or now - found.begun >= window:
            found = _Window(now)
        self._windows[client] = found
        if len(self._windows) > MOST_CLIENTS:
            self._windows.popitem(last=False)
        reset = math.ceil(found.begun + window - now)
        if found.used >= limit:
            return Allowance(limit, 0, reset, False)
        found.used += 1
        return Allowance(limit, limit - found.used, reset, True)

    def give_back(self, client: str) -> None:
        """A request that is free after all: its answer was in the client's hands already."""
        found = self._windows.get(client)
        if found is not None and found.used:
            found.used -= 1
