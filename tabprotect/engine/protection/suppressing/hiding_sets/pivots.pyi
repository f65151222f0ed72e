from typing import Any

def solved(entries: Any, pivot: Any, /) -> None: ...
def pushed(
    entries: Any,
    basic: Any,
    beside: Any,
    low: Any,
    high: Any,
    x: Any,
    number: int,
    need: float,
    most: int,
    /,
) -> int: ...
