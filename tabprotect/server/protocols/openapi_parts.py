"""The parts of the OpenAPI document: schemas, parameters, and the answers that any address can give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from tabprotect.server.problems import STATUS, TITLES, Code

TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}
TEXTS_OF_TEXTS = {"type": "array", "items": TEXTS}
WORD = {"type": "string", "minLength": 1}
WORDS = {"type": "array", "items": WORD, "minItems": 1}
NUMBER = {"type": "integer"}
POSITIVE = {"type": "integer", "minimum": 1}
SPOKEN: dict[str, object] = {"type": "string", "enum": []}
"""A language of the service, which says them when it is asked."""
FLAG = {"type": "boolean"}


def members(**of: object) -> dict[str, object]:
    """An object with these members."""
    return {"type": "object", "properties": of}


def needed(schema: dict[str, object], *names: str) -> dict[str, object]:
    """An object that has these members, and no others than it names."""
    return schema | {"required": list(names), "additionalProperties": False}


PROBLEM = members(
    type=TEXT, title=TEXT, status=NUMBER, detail=TEXT, code={"type": "string", "enum": list(get_args(Code))}
)


def given(what: str, **content: object) -> dict[str, object]:
    """A response with a schema for each media type."""
    return {"description": what, "content": {m: {"schema": s} for m, s in content.items()}}


def as_json(what: str, schema: Mapping[str, object]) -> dict[str, object]:
    """A response that is JSON."""
    return given(what, **{"application/json": schema})


def responses(codes: tuple[Code, ...] = (), **good: Mapping[str, object]) -> dict[str, dict[str, object]]:
    """The good responses, and the problems that an address can answer with."""
    out = {status.removeprefix("s"): dict(said) for status, said in good.items()}
    every: tuple[Code, ...] = (
        *codes,
        "wrong_host",
        "rate_limited",
        "unauthorised",
        "method_not_allowed",
        "too_large",
        "too_slow",
        "unavailable",
    )
    for code in every:
        said = given(f"{code}: {TITLES[code]}", **{"application/problem+json": PROBLEM})
        found = out.setdefault(str(STATUS[code]), said)
        if found is not said:
            found["description"] = f"{found['description']}; {code}: {TITLES[code]}"
    return out


def parameter(name: str, where: str, schema: Mapping[str, object], what: str) -> dict[str, object]:
    """A parameter of an address; those of its path are required."""
    return {"name": name, "in": where, "required": where == "path", "schema": schema, "description": what}


def body(schema: Mapping[str, object]) -> dict[str, object]:
    """A request's body, as JSON."""
    return {"required": True, "content": {"application/json": {"schema": schema}}}
