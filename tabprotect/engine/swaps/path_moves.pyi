from typing import Any

def chained(
    sizes: tuple[int, int, int, int, int],
    prior: float,
    closed: Any,
    starts: Any,
    theta: Any,
    original: Any,
    first: Any,
    second: Any,
    taken: Any,
    state: Any,
    drawn: Any,
    mix: Any,
    /,
) -> None: ...
