"""What is told of a run of cycles beside its figures: lower strips, and bridges."""

from __future__ import annotations

from tabprotect.engine.cycles import reach
from tabprotect.engine.cycles.constructions.swaps import HEIGHTS, highest, narrow_enough
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message


def lower_strips(moves: MoveSet) -> str:
    """Say what it costs that strips are less high because the table is large; else nothing."""
    if moves.design is None or moves.design.kind != "strips":
        return ""
    height = moves.design.parameters.get("height")
    more = HEIGHTS.get(height) if isinstance(height, int) else None
    if more is None or height != highest(moves.domain):
        return ""
    natural = narrow_enough(moves.domain)
    if natural <= height:
        return ""
    return message(
        "Strips are {height} categories high and not {natural}, as the table has many cells: readers "
        "know about {more} % more small counts for it.",
        height,
        natural,
        more,
    )


def bridges(table: Table) -> tuple[dict[str, object], str]:
    """Positive cells that no cycle through positive cells can ever move; two-way tables only."""
    if table.domain.ndim != 2:
        return {"bridges": None, "why_no_bridges": message("only a two-way table is a graph")}, ""
    found = reach.bridges(table)
    if not found:
        return {"bridges": []}, message("Every positive cell lies on a cycle through positive cells.")
    which = (
        message("1 positive cell is a bridge")
        if len(found) == 1
        else (message("{found:,} positive cells are bridges", len(found)))
    )
    return (
        {"bridges": [list(cell) for cell in found]},
        message(
            "{which}: no cycle through positive cells can move such a cell, it is published as it is.", which
        ),
    )
