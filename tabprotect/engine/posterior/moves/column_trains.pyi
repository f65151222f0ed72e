from typing import Any

def swept(
    columns: int,
    swaps: int,
    most: int,
    tolerance: float,
    whole: bool,
    kept: bool,
    table: Any,
    rows: Any,
    weights: Any,
    laws: Any,
    /,
) -> tuple[int, Any, float]: ...
def draw(messages: Any, column: int, number: int, random: Any, given: Any, out: Any, /) -> int: ...
