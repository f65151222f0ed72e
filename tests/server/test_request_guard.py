"""What is said of an error that nobody foresaw."""

from __future__ import annotations

import pytest

from tabprotect.engine.errors import InputError
from tabprotect.server.request_guard import _problem


@pytest.mark.parametrize("error", [InputError("cell 17 of people.db"), ValueError("17")])
def test_an_error_of_the_house_says_nothing_of_a_table(error: Exception) -> None:
    problem = _problem(error, {"method": "POST", "path": "/queries"})
    assert problem.code == "unavailable" and "17" not in str(problem)
    # Only what may pass by itself is worth asking again.
    again = dict(problem.headers or {}).get("Retry-After")
    assert (again is not None) == isinstance(error, InputError)
