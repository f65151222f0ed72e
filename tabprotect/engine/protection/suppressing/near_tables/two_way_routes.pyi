from typing import Any

def route(
    open: Any,
    weight: Any,
    forward: Any,
    back: Any,
    barred: Any,
    what: Any,
    rows: int,
    columns: int,
    pay: bool,
    step: float,
    few: int,
    /,
) -> tuple[bytes, bytes] | None: ...
def largest(arrays: tuple[Any, ...], row: int, column: int, own: int, most: int, /) -> int: ...
