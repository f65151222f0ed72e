"""The roles of columns as tau-ARGUS describes records: who contributes, weights, requests, costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from tabprotect.engine.formats.agencies.rda_metadata import read_metadata
from tabprotect.engine.magnitudes.tables.tabulating import MeasuredColumns
from tabprotect.engine.paths import is_file

ROLES: Mapping[str, tuple[str, ...]] = {
    "holding": ("HOLDING",),
    "weight": ("WEIGHT",),
    "request": ("REQUEST",),
    "shadow": ("SHADOW",),
    "cost": ("COST", "COSTVAR"),
}
"""What each column of a magnitude table is marked with in a description."""


def described(path: Path | str, columns: MeasuredColumns) -> MeasuredColumns:
    """The columns with those that the description beside records names, where nothing else is asked for.

    Raises
    ------
    InputError
        If the description cannot be understood.
    """
    beside = Path(path).with_suffix(".rda")
    if Path(path).suffix.lower() != ".asc" or not is_file(beside):
        return columns
    meta = read_metadata(Path(path), beside)
    found: dict[str, str] = {}
    asks = columns.asks
    for role, marks in ROLES.items():
        named = [v for v in meta.variables if set(marks) & set(v.options)]
        if getattr(columns, role) is None and named:
            found[role] = named[0].name
            asks = named[0].options.get("REQUEST", ()) if role == "request" else asks
    return replace(columns, asks=asks, **found)
