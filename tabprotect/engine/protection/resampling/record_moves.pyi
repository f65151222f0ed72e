from typing import Any

def returned(
    outer: int, size: int, inner: int, mass: Any, matrix: Any, after: Any, before: Any, state: Any, /
) -> None: ...
