"""The API as an OpenAPI document, tested against the program."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tabprotect.server.api import AskedData, AskedQuery
from tabprotect.server.egress import OUTPUTS
from tabprotect.server.problems import Code
from tabprotect.server.protocols.openapi import PROTOCOL_PATHS
from tabprotect.server.protocols.openapi_parts import (
    FLAG,
    NUMBER,
    SPOKEN,
    TEXT,
    TEXTS,
    TEXTS_OF_TEXTS,
    WORD,
    as_json,
    body,
    given,
    members,
    parameter,
    responses,
    schema_of,
)
from tabprotect.version import __version__

_CATEGORY = members(id=TEXT, label=TEXT)
_LEVEL = members(id=TEXT, label=TEXT, categories={"type": "array", "items": _CATEGORY})
_VARIABLE = members(
    id=TEXT,
    label=TEXT,
    categories={"type": "array", "items": _CATEGORY},
    levels={"type": "array", "items": _LEVEL},
)
_ANSWER = members(variables=TEXTS, bundle=TEXT, data={"type": "object"})
_DECIDED = members(
    number=NUMBER,
    variables=TEXTS,
    decision={"type": "string", "enum": ["release", "perturb", "defer", "refuse"]},
    code={"type": "string", "enum": ["released", "perturbed", "deferred", "not_released"]},
    reason=TEXT,
    permanent=FLAG,
    answer=_ANSWER,
)
_ID = parameter("id", "path", TEXT, "A table, as /tables lists it.")
_NUMBER = parameter("number", "path", NUMBER, "Of a query.")
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
_FILE = given(
    "The sub-table.", **{output.media.partition(";")[0]: {"type": "string"} for output in OUTPUTS.values()}
)
_SAME: dict[str, object] = {"description": "The client has it already."}
_PUT_OFF = as_json("deferred: the decision is put off.", _DECIDED)


def _data(**more: object) -> dict[str, object]:
    return {
        "summary": "A sub-table as a file; by POST what was not asked for yet is decided on.",
        "responses": responses((*_ASKED, "not_acceptable"), s200=_FILE, s202=_PUT_OFF, s304=_SAME),
        **more,
    }


_FORMAT = {"type": "string", "enum": list(OUTPUTS)}
_FILTER = "A=a1,a2: show only these categories of the asked variable A."

PATHS: Mapping[str, Mapping[str, object]] = {
    "/config": {
        "get": {
            "summary": "All limits and what is fixed; not counted.",
            "responses": responses(s200=as_json("The service.", {"type": "object"})),
        }
    },
    "/tables": {
        "get": {
            "summary": "Which tables there are.",
            "responses": responses(
                s200=as_json(
                    "The tables.", members(tables={"type": "array", "items": members(id=TEXT, label=TEXT)})
                )
            ),
        }
    },
    "/tables/{id}/metadata": {
        "parameters": [_ID],
        "get": {
            "summary": "The offered variables with their categories.",
            "responses": responses(
                ("unknown_table",),
                s200=as_json(
                    "The variables.",
                    members(variables={"type": "array", "items": _VARIABLE}, disallowed=TEXTS),
                ),
            ),
        },
    },
    "/tables/{id}/data": {
        "parameters": [_ID],
        "get": _data(
            parameters=[
                parameter("variables", "query", WORD, "A,B or A,B@level; a name with a comma in quotes.")
                | {"required": True},
                parameter("filter", "query", TEXT, _FILTER),
                parameter("format", "query", _FORMAT, "Else by Accept."),
            ]
        ),
        "post": _data(requestBody=body(schema_of(AskedData, closed=True, format=_FORMAT))),
    },
    "/tables/{id}/queries": {
        "parameters": [_ID],
        "post": {
            "summary": "Ask for a sub-table.",
            "requestBody": body(schema_of(AskedQuery, closed=True)),
            "responses": responses(_ASKED, s201=as_json("Decided.", _DECIDED), s202=_PUT_OFF),
        },
    },
    "/tables/{id}/frontier": {
        "parameters": [_ID],
        "get": {
            "summary": "The released frontier, and what is known to be refused for good.",
            "responses": responses(
                ("unknown_table",),
                s200=as_json(
                    "The frontier.",
                    members(variables=TEXTS, released=TEXTS_OF_TEXTS, refused=TEXTS_OF_TEXTS, frozen=FLAG),
                ),
            ),
        },
    },
    "/queries/{number}": {
        "parameters": [_NUMBER],
        "get": {
            "summary": "What became of a query.",
            "responses": responses(("not_found",), s200=as_json("The query.", _DECIDED)),
        },
    },
    "/queries/{number}/votes": {
        "parameters": [_NUMBER],
        "post": {
            "summary": "Vote for what was put off.",
            "responses": responses(
                ("not_found", "not_released", "not_json", "forbidden"),
                s200=as_json("It changes nothing.", _DECIDED),
                s201=as_json("Decided.", _DECIDED),
                s202=_PUT_OFF,
            ),
        },
    },
    "/bundles/{fingerprint}": {
        "parameters": [parameter("fingerprint", "path", TEXT, "SHA-256 of the bundle.")],
        "get": {
            "summary": "A release bundle that went out, for ever.",
            "responses": responses(
                ("not_found",), s200=given("The zip.", **{"application/zip": TEXT}), s304=_SAME
            ),
        },
    },
    "/health": {
        "get": {
            "summary": "Whether the history can be reached; not counted.",
            "responses": responses(s200=as_json("It can.", members(status=TEXT))),
        }
    },
    "/metrics": {
        "get": {
            "summary": "Figures for a monitor; not counted.",
            "responses": responses(("forbidden",), s200=given("Figures.", **{"text/plain": TEXT})),
        }
    },
    "/openapi.json": {
        "get": {
            "summary": "This document; not counted.",
            "responses": responses(s200=as_json("The document.", {"type": "object"})),
        }
    },
    **PROTOCOL_PATHS,
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
    spoken = SPOKEN | {"enum": list(request.app.state.server.service.languages)}

    def said(part: object) -> object:
        if part is SPOKEN:
            return spoken
        if isinstance(part, Mapping):
            return {name: said(one) for name, one in part.items()}
        return [said(one) for one in part] if isinstance(part, list | tuple) else part

    return JSONResponse(said(DOCUMENT), headers={"Cache-Control": "max-age=3600"})
