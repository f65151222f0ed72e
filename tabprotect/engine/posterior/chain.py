"""Components with too many states for the exact way."""

from __future__ import annotations

import numpy as np

from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.posterior.components import Component
from tabprotect.engine.posterior.parts import Part
from tabprotect.engine.progress import Progress


def by_chain(
    component: Component,
    *,
    draws: int | None,
    generator: np.random.Generator,
    progress: Progress,
) -> Part:
    """Refuse."""
    raise InfeasibleError(
        "too many originals hang together for an exact posterior",
        hint="take a prior that knows more",
    )
