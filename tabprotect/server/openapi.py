"""Addresses that say what they take and answer, and the OpenAPI document made from them."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from http import HTTPStatus
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tabprotect.server.egress import OUTPUTS
from tabprotect.server.problems import STATUS, TITLES, Code, HttpProblem
from tabprotect.version import __version__

_PLAIN: Mapping[object, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    NoneType: "null",
}
_LEAST = {"string": "minLength", "array": "minItems", "integer": "minimum"}


def schema_of(hint: Any, *, closed: bool = False, **instead: object) -> dict[str, object]:
    """The JSON Schema of a type: of what is decoded as it, or of what is answered.

    Parameters
    ----------
    closed
        Whether an object has no other members.
    **instead
        The schemas of members that take less than their types say.
    """
    origin, inner = get_origin(hint), get_args(hint)
    if is_dataclass(hint) or is_typeddict(hint):
        each = {name: schema_of(one) for name, one in get_type_hints(hint, include_extras=True).items()}
        needed = (
            [field.name for field in fields(hint) if field.default is MISSING]
            if is_dataclass(hint)
            else sorted(hint.__required_keys__)
        )
        return (
            {"type": "object", "properties": each | instead}
            | ({"required": needed} if needed else {})
            | ({"additionalProperties": False} if closed else {})
        )
    if origin is Annotated:
        schema = schema_of(inner[0])
        return schema | {_LEAST[str(schema["type"])]: inner[1].low}
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (Union, UnionType):
        return {"anyOf": [schema_of(one) for one in inner]}
    if origin in (tuple, list):
        return {"type": "array", "items": schema_of(inner[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": schema_of(inner[1])}
    return {"type": _PLAIN[hint]} if hint in _PLAIN else {}


TEXT = schema_of(str)
LANGUAGE: Mapping[str, object] = {"$ref": "#/components/schemas/Language"}
FORMAT: Mapping[str, object] = {"enum": list(OUTPUTS)}
FILE = {
    media: schema_of(dict[str, object]) if media.endswith("json") else TEXT
    for media in (output.media.partition(";")[0] for output in OUTPUTS.values())
}
"""A sub-table in any format, by the media types."""

_EVERYWHERE: tuple[Code, ...] = (
    "wrong_host",
    "rate_limited",
    "unauthorised",
    "method_not_allowed",
    "too_large",
    "too_slow",
    "unavailable",
)
_PROBLEM = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
_IN_PATHS = {
    "id": "A table, a code list or a dataflow, as the lists name it.",
    "number": "Of a query.",
    "fingerprint": "SHA-256 of the bundle.",
    "lang": "A language of the service.",
    "path": "tables, or tables/ID.",
    "kind": "Of structures, as codelist.",
    "context": "dataflow, datastructure or *",
    "agency": "TABPROTECT or *",
    "version": "1.0, + or *",
    "key": "A code or * for each dimension, with dots between.",
}


def asked(name: str, schema: Mapping[str, object], what: str, **more: object) -> dict[str, object]:
    """A parameter behind the question mark of an address."""
    return {"name": name, "in": "query", "schema": schema, "description": what, **more}


def asked_of_variables(name: str, what: str) -> dict[str, object]:
    """A parameter that is given for each variable: ``name[A]=...``."""
    return asked(name, schema_of(dict[str, str]), what, style="deepObject", explode=True)


LANGUAGE_ASKED = asked("lang", LANGUAGE, "One of the languages that /v2/config lists.")


class Address(Route):
    """An address under one method: what it takes, answers and refuses is declared here alone.

    Parameters
    ----------
    endpoint
        Answers a request with a response, or with what its JSON says; the first paragraph of its
        docstring is the document's.
    refused
        Codes with which it may refuse, beside those of every address.
    parameters
        Those behind the question mark.
    body
        The schema of a request's body.
    answers
        By status the type of the JSON, or schemas by media types; by default the type that the
        endpoint returns. ``None`` for no content.
    cache
        How long a plain answer may be kept.
    """

    def __init__(
        self,
        path: str,
        endpoint: Callable[[Request], Awaitable[Any]],
        *refused: Code,
        method: str = "GET",
        parameters: Sequence[Mapping[str, object]] = (),
        body: Mapping[str, object] | None = None,
        answers: Mapping[int, Any] | None = None,
        cache: str = "no-cache",
    ) -> None:
        @wraps(endpoint)
        async def answered(request: Request) -> Response:
            said = await endpoint(request)
            return (
                said if isinstance(said, Response) else JSONResponse(said, headers={"Cache-Control": cache})
            )

        super().__init__(path, answered, methods=[method])
        self.method, self._refused, self._parameters, self._body = method.lower(), refused, parameters, body
        self._answers = answers or {200: get_type_hints(endpoint)["return"]}

    def described(self) -> dict[str, object]:
        """The operation in the document."""
        in_path = [
            {
                "name": name,
                "in": "path",
                "required": True,
                "schema": LANGUAGE if name == "lang" else schema_of(int if name == "number" else str),
                "description": _IN_PATHS[name],
            }
            for name in self.param_convertors
        ]
        told = (inspect.getdoc(self.endpoint) or "").partition("\n\n")[0].replace("``", "")
        wanted = {"application/json": {"schema": self._body}}
        return {
            "summary": " ".join(told.split()),
            "parameters": [*in_path, *self._parameters],
            **({} if self._body is None else {"requestBody": {"required": True, "content": wanted}}),
            "responses": self._responses(),
        }

    def _responses(self) -> dict[str, dict[str, object]]:
        out: dict[str, dict[str, object]] = {}
        for status, kind in self._answers.items():
            media = kind if isinstance(kind, Mapping) else {"application/json": schema_of(kind)}
            content = {} if kind is None else {"content": {m: {"schema": s} for m, s in media.items()}}
            out[str(status)] = {"description": HTTPStatus(status).phrase, **content}
        for code in (*self._refused, *_EVERYWHERE):
            said = out.setdefault(str(STATUS[code]), {"description": "", "content": _PROBLEM})
            said["description"] = f"{said['description']}; {code}: {TITLES[code]}".lstrip("; ")
        return out


async def openapi(request: Request) -> Response:
    """This document; not counted."""
    paths: dict[str, dict[str, object]] = {}
    for route in request.app.routes:
        if isinstance(route, Address):
            paths.setdefault(route.path_format, {})[route.method] = route.described()
    always = HttpProblem("not_found", "").as_json()
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "tabprotect table server",
            "version": __version__,
            "description": "Sub-tables of one confidential table, decided on in the light of "
            "everything released before. Refusals are application/problem+json with a stable code.",
        },
        "components": {
            "schemas": {
                "Language": {"enum": list(request.app.state.server.service.languages)},
                "Problem": {
                    "type": "object",
                    "properties": {name: schema_of(type(one)) for name, one in always.items()}
                    | {"code": schema_of(Code)},
                    "required": list(always),
                },
            },
            "securitySchemes": {
                "key": {"type": "http", "scheme": "bearer"},
                "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
            },
        },
        "security": [{}, {"key": []}, {"header": []}],
        "paths": paths,
    }
    return JSONResponse(document, headers={"Cache-Control": "max-age=3600"})
