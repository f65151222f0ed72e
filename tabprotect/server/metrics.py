"""Figures of the running program for a monitor, in the text format of Prometheus."""

from __future__ import annotations

import threading
from collections import Counter

from tabprotect.languages.said import joined


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
