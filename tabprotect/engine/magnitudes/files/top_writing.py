"""A table of sums as tau-ARGUS's files: with the largest contributions of each cell. CONFIDENTIAL."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tabprotect.engine.formats.agencies.rda_metadata import description
from tabprotect.engine.formats.kinds.tau_argus import (
    LEAD,
    check_names,
    hierarchy_text,
    label_text,
    separator_of,
)
from tabprotect.engine.formats.statuses import EMPTY, SAFE, UNSAFE
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.sensitivity.magnitude_rules import Sensitivity
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.variable import TOTAL, Variable

N, SHADOW, TOP, STATUS, LEVELS = "n", "shadow", "top", "status", ("lower", "upper")
NAMED = 3
"""How many of the largest contributions are written."""


def top_table_files(table: MagnitudeTable, stem: str, found: Sensitivity | None = None) -> dict[str, bytes]:
    """The files by name: the table, its description, hierarchies and labels.

    Parameters
    ----------
    stem
        Their name without the suffix.
    found
        What rules say of the cells: statuses and levels are written with it.

    Raises
    ------
    InputError
        For names and groups that tau-ARGUS cannot hold.
    """
    domain = Domain(table.variables)
    check_names(domain)
    parted = separator_of(domain)
    files: dict[str, str] = {}
    lists: dict[str, dict[str, str]] = {}
    for number, variable in enumerate(table.variables, 1):
        of = lists[variable.name] = {}
        called = re.sub(r"[^\w.-]", "_", variable.name) + f"_{number}"
        texts = {".hrc": hierarchy_text(variable, TOTAL), ".cdl": label_text(variable)}
        for suffix, text in texts.items():
            if text:
                of[suffix] = f"{stem}_{called}{suffix}"
                files[of[suffix]] = text
    said = [
        _codes(variable, files.get(lists[variable.name].get(".hrc", ""), "")) for variable in table.variables
    ]
    ranks = NAMED if table.largest is None else table.largest.ranks
    files[f"{stem}.rda"] = _description(table, lists, parted, ranks, levels=found is not None)
    judged, cells = table.judged(ranks), table.cells
    top, shadow = judged.top[:, :ranks], judged.total
    lines = []
    for at in range(len(cells)):
        codes = [names.get(int(node)) for names, node in zip(said, cells.nodes[:, at], strict=True)]
        if None in codes:
            continue
        numbers = [_text(table, int(cells.value[at])), str(int(cells.holdings[at]))]
        if _has_shadow(table):
            numbers.append(_text(table, int(shadow[at])))
        numbers += [_text(table, int(size)) for size in top[at]]
        if found is not None:
            unsafe = bool(found.unsafe[at])
            status = UNSAFE if unsafe else SAFE if cells.holdings[at] else EMPTY
            numbers += [status, "0", _text(table, int(found.upper[at]))]
        lines.append(parted.join([*(f'"{code}"' for code in codes), *numbers]))
    files[f"{stem}.tab"] = "\n".join(lines) + "\n"
    return {name: text.encode() for name, text in files.items()}


def _codes(variable: Variable, hierarchy: str) -> Mapping[int, str]:
    """The code of every node that the hierarchy has; a group of one is its part."""
    known = {line.lstrip(LEAD) for line in hierarchy.splitlines()}
    found: dict[int, str] = {}
    for node, (level, name) in enumerate(variable.nodes):
        if not level or name in known:
            found[node] = name
    return found


def _description(
    table: MagnitudeTable, lists: Mapping[str, Mapping[str, str]], parted: str, ranks: int, *, levels: bool
) -> str:
    names = [v.name for v in table.variables]
    text = description(names, lists, separator=parted, count=table.measure, status=STATUS, total=TOTAL)
    number = f"  <DECIMALS> {table.decimals}"
    head, tail = text.split("  <DECIMALS> 0\n")
    more = [number, N, "  <FREQUENCY>"]
    more += [SHADOW, "  <NUMERIC> <SHADOW>", number] if _has_shadow(table) else []
    for rank in range(1, ranks + 1):
        more += [f"{TOP}{rank}", "  <MAXSCORE>", number]
    said = "\n".join(more) + "\n"
    if not levels:
        return head + said
    lower, upper = LEVELS
    ends = [lower, "  <NUMERIC> <LOWERPL>", upper, "  <NUMERIC> <UPPERPL>"]
    return head + said + tail + "\n".join(ends) + "\n"


def _has_shadow(table: MagnitudeTable) -> bool:
    """Return True if the largest contributions are those of another variable than the sums."""
    return table.rows.shadow is not table.rows.own


def _text(table: MagnitudeTable, value: int) -> str:
    if not table.decimals:
        return str(value)
    whole, part = divmod(abs(value), 10**table.decimals)
    return f"{'-' if value < 0 else ''}{whole}.{part:0{table.decimals}d}"
