from typing import Any

def exchange(
    sizes: tuple[int, int, int, int, int, int],
    chances: tuple[float, float],
    pairs: Any,
    drawn: Any,
    kind: Any,
    unit: Any,
    targets: Any,
    starts: Any,
    categories: Any,
    place: Any,
    counts: Any,
    /,
) -> None: ...
def steps(
    sizes: tuple[int, int, int, int],
    theta: float,
    closed: Any,
    starts: Any,
    drawn: Any,
    counts: Any,
    cells: Any,
    at: Any,
    touched: Any,
    changed: Any,
    by: Any,
    whose: Any,
    number: Any,
    /,
) -> None: ...
def tally(number: int, places: Any, seen: Any, /) -> None: ...
