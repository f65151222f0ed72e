"""The API as an OpenAPI document, tested against the program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tabprotect.server.egress import OUTPUTS
from tabprotect.server.problems import STATUS, TITLES, Code
from tabprotect.version import __version__

TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}
TEXTS_OF_TEXTS = {"type": "array", "items": TEXTS}
NUMBER = {"type": "integer"}
FLAG = {"type": "boolean"}


def _object(**members: object) -> dict[str, object]:
    return {"type": "object", "properties": members}


def _needed(schema: dict[str, object], *names: str) -> dict[str, object]:
    return schema | {"required": list(names), "additionalProperties": False}


_CATEGORY = _object(id=TEXT, label=TEXT)
_LEVEL = _object(id=TEXT, label=TEXT, categories={"type": "array", "items": _CATEGORY})
_VARIABLE = _object(
    id=TEXT,
    label=TEXT,
    categories={"type": "array", "items": _CATEGORY},
    levels={"type": "array", "items": _LEVEL},
)
_ANSWER = _object(variables=TEXTS, bundle=TEXT, data={"type": "object"})
_DECIDED = _object(
    number=NUMBER,
    variables=TEXTS,
    decision={"type": "string", "enum": ["release", "perturb", "defer", "refuse"]},
    code={"type": "string", "enum": ["released", "perturbed", "deferred", "not_released"]},
    reason=TEXT,
    permanent=FLAG,
    answer=_ANSWER,
)
_PROBLEM = _object(
    type=TEXT,
    title=TEXT,
    status=NUMBER,
    detail=TEXT,
    code={"type": "string", "enum": list(get_args(Code))},
)


def _given(what: str, **content: object) -> dict[str, object]:
    return {"description": what, "content": {m: {"schema": s} for m, s in content.items()}}


def _json(what: str, schema: Mapping[str, object]) -> dict[str, object]:
    return _given(what, **{"application/json": schema})


def _responses(
    codes: tuple[Code, ...] = (), **good: Mapping[str, object]
) -> dict[str, dict[str, object]]:
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
        said = _given(f"{code}: {TITLES[code]}", **{"application/problem+json": _PROBLEM})
        found = out.setdefault(str(STATUS[code]), said)
        if found is not said:
            found["description"] = f"{found['description']}; {code}: {TITLES[code]}"
    return out


def _parameter(name: str, where: str, schema: Mapping[str, object], what: str) -> dict[str, object]:
    return {
        "name": name,
        "in": where,
        "required": where == "path",
        "schema": schema,
        "description": what,
    }


_ID = _parameter("id", "path", TEXT, "A table, as /tables lists it.")
_NUMBER = _parameter("number", "path", NUMBER, "Of a query.")
_ASKED: tuple[Code, ...] = (
    "invalid_query",
    "not_released",
    "too_many_cells",
    "disallowed_variable",
    "not_decided",
    "not_json",
    "forbidden",
    "unknown_table",
)
_FILE = _given(
    "The sub-table.",
    **{output.media.partition(";")[0]: {"type": "string"} for output in OUTPUTS.values()},
)
_SAME: dict[str, object] = {"description": "The client has it already."}
_PUT_OFF = _json("deferred: the decision is put off.", _DECIDED)


def _data(**more: object) -> dict[str, object]:
    return {
        "summary": "A sub-table as a file; by POST what was not asked for yet is decided on.",
        "responses": _responses((*_ASKED, "not_acceptable"), s200=_FILE, s202=_PUT_OFF, s304=_SAME),
        **more,
    }


def _body(schema: Mapping[str, object]) -> dict[str, object]:
    return {"required": True, "content": {"application/json": {"schema": schema}}}


_FILTER = "A=a1,a2: show only these categories of the asked variable A."

PATHS: Mapping[str, Mapping[str, object]] = {
    "/config": {
        "get": {
            "summary": "All limits and what is fixed; not counted.",
            "responses": _responses(s200=_json("The service.", {"type": "object"})),
        }
    },
    "/tables": {
        "get": {
            "summary": "Which tables there are.",
            "responses": _responses(
                s200=_json(
                    "The tables.",
                    _object(tables={"type": "array", "items": _object(id=TEXT, label=TEXT)}),
                )
            ),
        }
    },
    "/tables/{id}/metadata": {
        "parameters": [_ID],
        "get": {
            "summary": "The offered variables with their categories.",
            "responses": _responses(
                ("unknown_table",),
                s200=_json(
                    "The variables.",
                    _object(variables={"type": "array", "items": _VARIABLE}, disallowed=TEXTS),
                ),
            ),
        },
    },
    "/tables/{id}/data": {
        "parameters": [_ID],
        "get": _data(
            parameters=[
                _parameter(
                    "variables", "query", TEXT, "A,B or A,B@level; a name with a comma in quotes."
                ),
                _parameter("filter", "query", TEXT, _FILTER),
                _parameter(
                    "format", "query", {"type": "string", "enum": list(OUTPUTS)}, "Else by Accept."
                ),
            ]
        ),
        "post": _data(
            requestBody=_body(
                _needed(_object(variables=TEXTS, filter=TEXTS, format=TEXT), "variables")
            )
        ),
    },
    "/tables/{id}/queries": {
        "parameters": [_ID],
        "post": {
            "summary": "Ask for a sub-table.",
            "requestBody": _body(
                _needed(_object(variables=TEXTS, filter=TEXTS, user=TEXT), "variables")
            ),
            "responses": _responses(_ASKED, s201=_json("Decided.", _DECIDED), s202=_PUT_OFF),
        },
    },
    "/tables/{id}/frontier": {
        "parameters": [_ID],
        "get": {
            "summary": "The released frontier, and what is known to be refused for good.",
            "responses": _responses(
                ("unknown_table",),
                s200=_json(
                    "The frontier.",
                    _object(
                        variables=TEXTS,
                        released=TEXTS_OF_TEXTS,
                        refused=TEXTS_OF_TEXTS,
                        frozen=FLAG,
                    ),
                ),
            ),
        },
    },
    "/queries/{number}": {
        "parameters": [_NUMBER],
        "get": {
            "summary": "What became of a query.",
            "responses": _responses(("not_found",), s200=_json("The query.", _DECIDED)),
        },
    },
    "/queries/{number}/votes": {
        "parameters": [_NUMBER],
        "post": {
            "summary": "Vote for what was put off.",
            "responses": _responses(
                ("not_found", "not_released", "not_json", "forbidden"),
                s200=_json("It changes nothing.", _DECIDED),
                s201=_json("Decided.", _DECIDED),
                s202=_PUT_OFF,
            ),
        },
    },
    "/bundles/{fingerprint}": {
        "parameters": [_parameter("fingerprint", "path", TEXT, "SHA-256 of the bundle.")],
        "get": {
            "summary": "A release bundle that went out, for ever.",
            "responses": _responses(
                ("not_found",), s200=_given("The zip.", **{"application/zip": TEXT}), s304=_SAME
            ),
        },
    },
    "/health": {
        "get": {
            "summary": "Whether the history can be reached; not counted.",
            "responses": _responses(s200=_json("It can.", _object(status=TEXT))),
        }
    },
    "/metrics": {
        "get": {
            "summary": "Figures for a monitor; not counted.",
            "responses": _responses(
                ("forbidden",), s200=_given("Figures.", **{"text/plain": TEXT})
            ),
        }
    },
    "/openapi.json": {
        "get": {
            "summary": "This document; not counted.",
            "responses": _responses(s200=_json("The document.", {"type": "object"})),
        }
    },
}

DOCUMENT: Mapping[str, object] = {
    "openapi": "3.1.0",
    "info": {
        "title": "tabprotect table server",
        "version": __version__,
        "description": "Sub-tables of one confidential table, decided on in the light of "
        "everything released before. Refusals are application/problem+json with a stable code.",
    },
    "components": {
        "securitySchemes": {
            "key": {"type": "http", "scheme": "bearer"},
            "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
        }
    },
    "security": [{}, {"key": []}, {"header": []}],
    "paths": PATHS,
}


async def openapi(request: Request) -> Response:
    """The document."""
    return JSONResponse(DOCUMENT, headers={"Cache-Control": "max-age=3600"})
