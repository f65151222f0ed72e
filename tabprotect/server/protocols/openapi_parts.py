"""The parts of the OpenAPI document: schemas, parameters, and the answers that any address can give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Annotated, Any, get_args, get_origin

from tabprotect.engine.decoding import types_of
from tabprotect.server.problems import STATUS, TITLES, Code

TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}
TEXTS_OF_TEXTS = {"type": "array", "items": TEXTS}
WORD = {"type": "string", "minLength": 1}
NUMBER = {"type": "integer"}
POSITIVE = {"type": "integer", "minimum": 1}
SPOKEN: dict[str, object] = {"type": "string", "enum": []}
"""A language of the service, which says them when it is asked."""
FLAG = {"type": "boolean"}


def members(**of: object) -> dict[str, object]:
    """An object with these members."""
    return {"type": "object", "properties": of}


_PLAIN: Mapping[object, dict[str, object]] = {str: {**TEXT}, int: {**NUMBER}, bool: {**FLAG}}
_LEAST = {"string": "minLength", "array": "minItems", "integer": "minimum"}


def schema_of(hint: Any, *, closed: bool = False, **instead: object) -> dict[str, object]:
    """The JSON Schema of what is decoded as a type; a ``null`` that stands for nothing is left out.

    Parameters
    ----------
    closed
        Whether an object has no other members.
    **instead
        The schemas of members that take less than their types say.
    """
    inner = get_args(hint)
    if is_dataclass(hint):
        assert isinstance(hint, type)
        each = {name: schema_of(one) for name, one in types_of(hint).items()}
        needed = [field.name for field in fields(hint) if field.default is MISSING]
        return (
            members(**each | instead)
            | ({"required": needed} if needed else {})
            | ({"additionalProperties": False} if closed else {})
        )
    if get_origin(hint) is Annotated:
        schema = schema_of(inner[0])
        return schema | {_LEAST[str(schema["type"])]: inner[1].low}
    if get_origin(hint) is tuple:
        return {"type": "array", "items": schema_of(inner[0])}
    return dict(_PLAIN[hint]) if hint in _PLAIN else schema_of(inner[0])


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
