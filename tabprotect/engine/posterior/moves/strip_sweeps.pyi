from typing import Any

def swept(n: int, k: int, table: Any, rows: Any, weights: Any, messages: Any, laws: Any, /) -> bool: ...
def draw(
    n: int,
    k: int,
    column: int,
    draws: int,
    table: Any,
    rows: Any,
    weights: Any,
    messages: Any,
    random: Any,
    given: Any,
    to: Any,
    /,
) -> None: ...
