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
