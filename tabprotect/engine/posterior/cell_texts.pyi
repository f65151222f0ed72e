from typing import Any

def written(
    cells: int,
    begin: int,
    width: int,
    nothing: int,
    texts: Any,
    bounds: Any,
    pieces: Any,
    published: Any,
    means: Any,
    modes: Any,
    firsts: Any,
    groups: Any,
    chances: Any,
    powers: Any,
    to: Any,
    /,
) -> tuple[int, int]: ...
