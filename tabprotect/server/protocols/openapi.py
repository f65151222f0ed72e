"""The addresses of PxWebApi 2, PxWebApi 1 and SDMX-REST 2 in the OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping

from tabprotect.engine.formats.agencies.sdmx_structures import KINDS, MEDIA
from tabprotect.server.egress import OUTPUTS
from tabprotect.server.problems import Code
from tabprotect.server.protocols import pxweb_v1, pxweb_v2, sdmx_rest
from tabprotect.server.protocols.openapi_parts import (
    NUMBER,
    POSITIVE,
    SPOKEN,
    TEXT,
    TEXTS,
    as_json,
    body,
    given,
    members,
    parameter,
    responses,
    schema_of,
)

_OBJECT = {"type": "object"}
_LIST = {"type": "array", "items": _OBJECT}
_LINKS = {"type": "array", "items": members(rel=TEXT, hreflang=TEXT, href=TEXT)}
_TABLE = members(id=TEXT, label=TEXT, variableNames=TEXTS, links=_LINKS)
_DATASET = members(version=TEXT, id=TEXTS, size={"type": "array", "items": NUMBER}, dimension=_OBJECT)
_SELECTION = schema_of(pxweb_v2.Selection)

_LANGUAGE = parameter("lang", "query", SPOKEN, "One of the languages that /v2/config lists.")
_ID = parameter("id", "path", TEXT, "A table, as /v2/tables lists it.")
_REFUSED: tuple[Code, ...] = (
    "invalid_query",
    "not_out",
    "too_many_cells",
    "disallowed_variable",
    "unknown_table",
    "not_found",
    "not_acceptable",
)
_FILE = given(
    "What is selected of a sub-table that is out.",
    **{output.media.partition(";")[0]: TEXT for output in OUTPUTS.values()},
)
_SAME: dict[str, object] = {"description": "The client has it already."}
_DATA = responses(_REFUSED, s200=_FILE, s304=_SAME)


def _get(summary: str, schema: Mapping[str, object], *codes: Code) -> dict[str, object]:
    return {
        "summary": summary,
        "parameters": [_LANGUAGE],
        "responses": responses(("invalid_query", *codes), s200=as_json("It.", schema)),
    }


def _of_variable(name: str, what: str) -> dict[str, object]:
    schema = {"type": "object", "additionalProperties": TEXT}
    return parameter(name, "query", schema, what) | {"style": "deepObject", "explode": True}


_SELECTED = [
    _LANGUAGE,
    _of_variable(
        "valueCodes",
        "valueCodes[A]=a1,a2: values of A, or *, ?, top(n), bottom(n), range(a,b), from(a), to(a); "
        "variables that are not named are summed over.",
    ),
    _of_variable("codelist", "codelist[A]=agg_A@level: the groups of a level."),
    _of_variable("outputValues", "outputValues[A]=aggregated or single."),
    parameter("outputFormat", "query", {"type": "string", "enum": list(OUTPUTS)}, "The format."),
    parameter("stub", "query", TEXT, "Variables that stand first."),
    parameter("heading", "query", TEXT, "Variables that follow these."),
]

_V2: Mapping[str, Mapping[str, object]] = {
    "/v2/config": {
        "get": {
            "summary": "PxWebApi 2: limits and formats; not counted.",
            "responses": responses(s200=as_json("The configuration.", _OBJECT)),
        }
    },
    "/v2/tables": {
        "get": {
            "summary": "PxWebApi 2: the table, and each of its sub-tables that is out.",
            "parameters": [
                _LANGUAGE,
                parameter("query", "query", TEXT, "Words that a table's label holds."),
                parameter("pageNumber", "query", POSITIVE, "From 1."),
                parameter("pageSize", "query", POSITIVE, "Tables of a page."),
            ],
            "responses": responses(
                ("invalid_query", "not_found"),
                s200=as_json(
                    "A page.", members(language=TEXT, tables={"type": "array", "items": _TABLE}, page=_OBJECT)
                ),
            ),
        }
    },
    "/v2/tables/{id}": {"parameters": [_ID], "get": _get("PxWebApi 2: one table.", _TABLE, "unknown_table")},
    "/v2/tables/{id}/metadata": {
        "parameters": [_ID],
        "get": _get("PxWebApi 2: its variables, as JSON-stat 2.", _DATASET, "unknown_table"),
    },
    "/v2/tables/{id}/defaultselection": {
        "parameters": [_ID],
        "get": _get("PxWebApi 2: what no selection means.", _SELECTION, "unknown_table"),
    },
    "/v2/tables/{id}/data": {
        "parameters": [_ID],
        "get": {
            "summary": "PxWebApi 2: what is out; nothing is decided.",
            "parameters": _SELECTED,
            "responses": _DATA,
        },
        "post": {
            "summary": "PxWebApi 2: what is out, by a selection; nothing is decided.",
            "parameters": [_LANGUAGE, _SELECTED[4]],
            "requestBody": body(_SELECTION),
            "responses": _DATA,
        },
    },
    "/v2/codelists/{id}": {
        "parameters": [parameter("id", "path", TEXT, "A code list, as metadata names it.")],
        "get": _get("PxWebApi 2: the groups of a level.", _OBJECT, "not_found"),
    },
}


def _v1(further: list[Mapping[str, object]]) -> dict[str, object]:
    return {
        "parameters": [parameter("lang", "path", SPOKEN, "A language of the service."), *further],
        "get": {
            "summary": "PxWebApi 1: folders, tables, or a table's variables; ?config: limits.",
            "responses": responses(
                ("invalid_query", "unknown_table", "not_found"),
                s200=as_json("It.", {"type": ["object", "array"]}),
            ),
        },
        "post": {
            "summary": "PxWebApi 1: what is out, by a query; nothing is decided.",
            "requestBody": body(schema_of(pxweb_v1.Query)),
            "responses": _DATA,
        },
    }


_PATH = parameter("path", "path", TEXT, "tables, or tables/ID.")

_SDMX_PARAMETERS: Mapping[str, Mapping[str, object]] = {
    "kind": parameter("kind", "path", TEXT, ", ".join(KINDS)),
    "context": parameter("context", "path", TEXT, "dataflow, datastructure or *"),
    "agency": parameter("agency", "path", TEXT, "TABPROTECT or *"),
    "id": parameter("id", "path", TEXT, "A dataflow, or *"),
    "version": parameter("version", "path", TEXT, "1.0, + or *"),
    "key": parameter("key", "path", TEXT, "A code or * for each dimension, with dots between."),
}


def _sdmx(path: str, operation: Mapping[str, object]) -> dict[str, object]:
    named = [said for name, said in _SDMX_PARAMETERS.items() if f"{{{name}}}" in path]
    return {"parameters": named, "get": operation}


_STRUCTURES = {
    "summary": "SDMX-REST 2: structures of what is out.",
    "parameters": [parameter("references", "query", TEXT, "none, or what belongs to it too.")],
    "responses": responses(("not_found",), s200=given("Structures.", **{MEDIA: TEXT})),
}
_OBSERVATIONS = {
    "summary": "SDMX-REST 2: observations of what is out; nothing is decided.",
    "parameters": [
        _of_variable("c", "c[A]=a1,a2: codes of a dimension."),
        parameter("format", "query", {"type": "string", "enum": list(sdmx_rest.FORMATS)}, "Else by Accept."),
    ],
    "responses": _DATA,
}

PROTOCOL_PATHS: Mapping[str, Mapping[str, object]] = {
    **_V2,
    "/v1/{lang}": _v1([]),
    "/v1/{lang}/{path}": _v1([_PATH]),
    **{path: _sdmx(path, _STRUCTURES) for path in sdmx_rest.STRUCTURES},
    **{path: _sdmx(path, _OBSERVATIONS) for path in sdmx_rest.DATA},
}
