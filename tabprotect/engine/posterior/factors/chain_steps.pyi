from typing import Any

def steps(arrays: tuple[Any, ...], number: int, /) -> int: ...
def swept(
    swaps: int,
    corners: int,
    chains: int,
    cells: Any,
    signs: Any,
    low: Any,
    high: Any,
    random: Any,
    tables: Any,
    /,
) -> None: ...
