"""What the audit trail of a release says: its steps, what was refused before, and that it left."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tabprotect.engine import agency
from tabprotect.engine.bundle.archive import sha256
from tabprotect.engine.plain_values.encoding import as_json
from tabprotect.engine.project.circumstances import now, program
from tabprotect.engine.project.command import TrailEntry
from tabprotect.engine.project.options import Publishing
from tabprotect.engine.protection.problem import Protected
from tabprotect.engine.register.register_entry import RefusedMechanism
from tabprotect.languages.messages import message


def trail_lines(
    steps: Sequence[TrailEntry],
    refused: Iterable[RefusedMechanism],
    protected: Protected,
    asked: Publishing,
    sealed: bytes,
) -> Sequence[Mapping[str, Any]]:
    """The lines in the order of their times, as JSON objects.

    Parameters
    ----------
    steps
        Those that led to the release.
    refused
        What the register has of mechanisms that the gate refused for this very table.
    protected
        What leaves, with the decisions and names of those who answer for it.
    sealed
        The bundle, or the manifest of a set.
    """
    earlier = [
        {
            "time": _second(one.time),
            "label": message("refused: {method}", one.method),
            "command": "protect",
            "refused": True,
            "result": {"method": one.method, "accepted": False, "mechanism": sha256(one.stated.encode())},
        }
        for one in refused
        if not one.looked
    ]
    record, verdict = protected.record, protected.record.verdict
    left = {
        "time": now(),
        "user": agency.user_name(),
        "program": program(),
        "inputs": {},
        "result": {
            "fingerprint": sha256(sealed),
            "method": protected.release.mechanism.method,
            "accepted": None if verdict is None else verdict.accepted,
            "decisions": record.decisions,
            "prepared_by": record.prepared_by,
            "approved_by": record.approved_by,
        },
        "label": message("published"),
        "command": "publish",
        "arguments": {name: one for name, one in asked.given.items() if name not in ("sign", "sign_too")},
        "seed": None,
        "published": True,
    }
    lines: list[dict[str, Any]] = [*map(as_json, steps), *earlier]
    # What was refused before the table was opened comes first; in one second, the steps do.
    return [*sorted(lines, key=lambda line: str(line["time"])), left]


def _second(time: str) -> str:
    """A time of the register as the trail has it: UTC, to the second."""
    return time[:19].replace(" ", "T") + "Z" if time else ""
