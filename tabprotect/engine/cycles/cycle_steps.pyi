from typing import Any

def grouped(
    cells: int,
    cycles: int,
    starts: Any,
    cell: Any,
    sign: Any,
    bounds: Any,
    touches: Any,
    table: Any,
    group_of_cell: Any,
    first_cell: Any,
    group_starts: Any,
    group_cycles: Any,
    group_signs: Any,
    /,
) -> int: ...
def layer_numbers(cycles: int, starts: Any, cells: Any, last: Any, to: Any, /) -> None: ...
def reached(cycles: int, starts: Any, cells: Any, signs: Any, positive: Any, taken: Any, /) -> None: ...
def undoable(
    cycles: int,
    adds: bool,
    subtracts: bool,
    leaves: bool,
    starts: Any,
    cells: Any,
    signs: Any,
    least: Any,
    most: Any,
    found: Any,
    /,
) -> None: ...
def walk(
    cycles: int,
    copies: int,
    rule: int,
    starts: Any,
    cells: Any,
    signs: Any,
    state: Any,
    coins: Any,
    effective: Any,
    blocked: Any,
    /,
) -> None: ...
def undo(
    cycles: int,
    entries: int,
    draws: int,
    numbers: Any,
    starts: Any,
    groups: Any,
    signs: Any,
    masses: Any,
    random: Any,
    walk: Any,
    counts: Any,
    /,
) -> None: ...
def added(
    number: int, draws: int, groups: Any, starts: Any, cycles: Any, signs: Any, total: Any, changes: Any, /
) -> None: ...
def tallied(groups: int, draws: int, span: int, changes: Any, found: Any, /) -> None: ...
def turned(
    chains: int,
    turns: int,
    most: int,
    entries: int,
    steps: int,
    groups: int,
    bounds: int,
    price: float,
    arrays: tuple[Any, ...],
    /,
) -> None: ...
