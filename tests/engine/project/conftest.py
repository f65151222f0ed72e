"""Projects are about what is kept, replayed and released: estimates take few draws."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _few_draws(few_draws: None) -> None:
    """How near estimates come is tested where they are made."""
