"""What the server refuses, as ``application/problem+json`` (RFC 9457) with a stable code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from tabprotect.languages.messages import message

Code = Literal[
    "not_released",
    "deferred",
    "too_many_cells",
    "disallowed_variable",
    "rate_limited",
    "unauthorised",
    "forbidden",
    "unknown_table",
    "not_found",
    "not_decided",
    "not_out",
    "not_json",
    "wrong_host",
    "invalid_query",
    "too_large",
    "too_slow",
    "not_acceptable",
    "method_not_allowed",
    "unavailable",
]

TITLES: Mapping[Code, str] = {
    "not_released": message("The sub-table is not released"),
    "deferred": message("The decision is put off"),
    "too_many_cells": message("The sub-table has too many cells"),
    "disallowed_variable": message("A variable is not offered"),
    "rate_limited": message("Too many requests"),
    "unauthorised": message("A valid key is needed"),
    "forbidden": message("This is for another role"),
    "unknown_table": message("There is no such table"),
    "not_found": message("There is nothing here"),
    "not_decided": message("The sub-table was not asked for yet"),
    "not_out": message("The sub-table is not out"),
    "not_json": message("The request is not JSON"),
    "wrong_host": message("This is another host"),
    "invalid_query": message("The request cannot be understood"),
    "too_large": message("The request is too large"),
    "too_slow": message("The request did not come in time"),
    "not_acceptable": message("There is no such format"),
    "method_not_allowed": message("This method means nothing here"),
    "unavailable": message("The server cannot answer now"),
}

STATUS: Mapping[Code, int] = {
    "not_released": 403,
    "deferred": 202,
    "too_many_cells": 403,
    "disallowed_variable": 403,
    "rate_limited": 429,
    "unauthorised": 401,
    "forbidden": 403,
    "unknown_table": 404,
    "not_found": 404,
    "not_decided": 404,
    "not_out": 403,
    "not_json": 415,
    "wrong_host": 400,
    "invalid_query": 400,
    "too_large": 413,
    "too_slow": 408,
    "not_acceptable": 406,
    "method_not_allowed": 405,
    "unavailable": 503,
}


class HttpProblem(Exception):  # noqa: N818 (a refusal is an answer)
    """A refusal.

    Parameters
    ----------
    detail
        Why, in a sentence for the person who asked; never with a count.
    more
        Further members of the object.
    headers
        Further headers of the response.
    """

    def __init__(
        self,
        code: Code,
        detail: str,
        *,
        more: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.code, self.detail = code, detail
        self.more = dict(more or {})
        self.headers = dict(headers or {})

    @property
    def status(self) -> int:
        """The status of the response."""
        return STATUS[self.code]

    def as_json(self) -> dict[str, object]:
        """The object that is sent."""
        return {
            "type": f"urn:tabprotect:problem:{self.code}",
            "title": TITLES[self.code],
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
            **self.more,
        }
