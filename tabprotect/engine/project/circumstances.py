"""Under what circumstances a step was done: by whom, with which program, on what, and what came of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tabprotect.engine import agency
from tabprotect.engine.paths import is_file
from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message
from tabprotect.version import __version__, commit, compiled

if TYPE_CHECKING:
    from tabprotect.engine.project.project import Project


@dataclass(frozen=True)
class Circumstances(Encodable):
    """What the audit trail says of a step besides its command. Confidential.

    Attributes
    ----------
    user
        The login name of who ran it; empty where the system has none.
    program
        Its version, commit and compiled parts.
    inputs
        SHA-256 of each file that was read, by the argument that named it.
    result
        What was there after the step and not before, in figures.
    """

    user: str = ""
    program: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict)
    result: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def of(cls, files: Mapping[str, str], before: Project, after: Project) -> Circumstances:
        """Those of a step that was just done.

        Parameters
        ----------
        files
            The files that it read, by argument; addresses of databases and names of examples among them.
        """
        return cls(agency.user_name(), program(), dict(_digests(files)), _result(before, after))


def now() -> str:
    """Return the time as a trail has it: UTC, ISO 8601 to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@cache
def program() -> str:
    """Return the program with version, commit and compiled parts."""
    return message(
        "tabprotect {version}, commit {commit}, compiled {here} of {all}",
        __version__,
        commit() or message("unknown"),
        *compiled().values(),
    )


def _digests(files: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, place in files.items():
        if "://" not in place and is_file(Path(place)):
            with open(place, "rb") as file:
                yield name, hashlib.file_digest(file, "sha256").hexdigest()


def _result(before: Project, after: Project) -> dict[str, object]:
    found: dict[str, object] = {}
    table = after.table
    if table is not None and table is not before.table:
        found |= {"cells": table.domain.size, "total": table.total, "table": _digest(table)}
    if after.protected is not None and after.protected is not before.protected:
        record = after.protected.record
        verdict = record.verdict
        found |= {
            "method": after.protected.release.mechanism.method,
            "accepted": None if verdict is None else verdict.accepted,
            "decisions": list(record.decisions),
        }
    return found


def _digest(table: Table) -> str:
    """SHA-256 of a table's names, categories and counts."""
    names = [[one.name, *one.categories] for one in table.domain.variables]
    found = hashlib.sha256(json.dumps(names).encode())
    for column in table.cells:
        found.update(np.ascontiguousarray(column, dtype="<i8").data)
    return found.hexdigest()
