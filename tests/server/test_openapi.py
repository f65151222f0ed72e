"""The OpenAPI document says what the program does; whatever is sent, nothing else comes back."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import httpx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.routing import Route
from table_server import Client, Serve

from tabprotect.server.application import ROUTES
from tabprotect.server.openapi import Address

PAGES = re.compile(r"^/(|look|ask|frontier|mine|sign-in|sign-out|style\.css|answers/.*|operator.*)$")


JSON_TYPES = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}

Document = dict[str, Any]


def test_every_route_but_those_of_pages_is_documented() -> None:
    for route in ROUTES:
        assert isinstance(route, Route)
        assert isinstance(route, Address) == (not PAGES.match(route.path)), route.path


def described(serve: Serve) -> tuple[Client, Document]:
    client = serve()
    return client, client("GET", "/openapi.json").json()


def responses(document: Document, path: str, method: str) -> dict[str, Any]:
    for template, said in document["paths"].items():
        pattern = re.sub(r"\{\w+\}", "[^/]+", template.replace("{path}", ".*"))
        if re.fullmatch(pattern, path):
            operation: Any = said.get(method.lower())
            return {} if operation is None else operation["responses"]
    return {}


def resolved(document: Document, schema: Document) -> Document:
    name = schema.get("$ref", "").rpartition("/")[2]
    found: Document = document["components"]["schemas"][name] if name else schema
    return found


def faults(value: object, schema: Document, at: str = "") -> list[str]:
    """Where a JSON value is not what a schema says; members that it does not name are faults, too."""
    if "anyOf" in schema:
        return min((faults(value, one, at) for one in schema["anyOf"]), key=len)
    if "enum" in schema:
        return [] if value in schema["enum"] else [f"{at}: {value!r}"]
    kind = schema.get("type", "null" if value is None else "")
    if kind == "null":
        return [] if value is None else [f"{at}: {value!r}"]
    if kind and (not isinstance(value, JSON_TYPES[kind]) or (isinstance(value, bool) and kind != "boolean")):
        return [f"{at}: {value!r} is no {kind}"]
    if isinstance(value, list):
        parts = enumerate(value)
        return [one for n, part in parts for one in faults(part, schema.get("items", {}), f"{at}[{n}]")]
    if not isinstance(value, dict):
        return []
    known = schema.get("properties", {})
    other = schema.get("additionalProperties", None if known else {})
    found = [f"{at}.{name} is missing" for name in schema.get("required", ()) if name not in value]
    for name, part in value.items():
        own = known.get(name, other)
        found += [f"{at}.{name} is not named"] if own is None else faults(part, own, f"{at}.{name}")
    return found


def check(document: Document, method: str, response: httpx.Response) -> None:
    """A response is one of those that the document has for its address."""
    path = response.request.url.raw_path.decode().partition("?")[0]
    expected = responses(document, path, method)
    assert response.status_code < 500, response.text
    assert "content-security-policy" in response.headers
    media = response.headers.get("content-type", "").partition(";")[0]
    if response.status_code >= 400:
        assert media == "application/problem+json"
        if method == "HEAD":
            return
        said = response.json()
        problem = document["components"]["schemas"]["Problem"]
        assert not faults({name: said.get(name) for name in problem["properties"]}, problem)
        assert said["status"] == response.status_code and said["code"] and said["detail"]
        if expected:
            assert str(response.status_code) in expected
            assert said["code"] in expected[str(response.status_code)]["description"]
    elif method != "HEAD" and not PAGES.match(path):
        assert str(response.status_code) in expected
        content = expected[str(response.status_code)].get("content")
        assert content is None or media in content
        if media == "application/json" and content is not None:
            assert not faults(response.json(), content[media]["schema"], path)


NAMES = st.sampled_from(["A", "B", "C", "D", "E", "F", "A@x", "Z", "", '"A', "a\u0000", "ä", "A,B"])
FILTERS = st.sampled_from(["A=no", "A=yes,no", "A=", "=", "Z=1", 'A="no', "B=no", "A=no\r\nX: y"])
FORMATS = st.sampled_from(["csv", "json-stat2", "xml", "html", "px", "", "../csv", "CSV", "\u0000"])
JUNK = st.one_of(st.none(), st.integers(), st.text(max_size=8), st.lists(NAMES, max_size=4))
BODIES = st.one_of(
    st.binary(max_size=40),
    st.dictionaries(st.sampled_from(["variables", "user", "filter", "format", "x"]), JUNK, max_size=4).map(
        lambda said: json.dumps(said).encode()
    ),
    st.just(b"{" * 3000),
    st.just(b" " * 20_000),
)
PATHS_ASKED = st.one_of(
    st.sampled_from(
        [
            "/config", "/tables", "/tables/czech-autoworkers/metadata", "/health", "/metrics",
            "/tables/czech-autoworkers/data", "/tables/czech-autoworkers/queries",
            "/tables/czech-autoworkers/frontier", "/tables/x/data", "/queries/1", "/queries/2/votes",
            "/queries/99999999999999999999", "/queries/-1", "/bundles/abc", "/openapi.json",
            "/bundles/" + "0" * 64, "/tables//data", "/tables/../config", "/" + "a" * 9000,
            "/v2/config", "/v2/tables", "/v2/tables/czech-autoworkers", "/v2/codelists/agg_A@x",
            "/v2/tables/czech-autoworkers/metadata", "/v2/tables/x/data", "/v1/en", "/v1/xx/",
            "/v1/en/tables/czech-autoworkers", "/v1/en/a/b/c", "/sdmx/v2/structure/dataflow",
            "/sdmx/v2/data/dataflow/TABPROTECT/*/1.0/*", "/sdmx/v2/codelist/*/X/+",
        ]
    ),
    st.text(max_size=12).map(lambda text: "/" + quote(text)),
    st.just("/tables/czech-autoworkers/data"),
    st.just("/tables/czech-autoworkers/data"),
    st.just("/tables/czech-autoworkers/queries"),
    st.just("/v2/tables/czech-autoworkers/data"),
)  # fmt: skip
HEADERS = st.dictionaries(
    st.sampled_from(["Accept", "If-None-Match", "X-API-Key", "Authorization", "Cookie", "X-Forwarded-For"]),
    st.sampled_from(["", "*/*", "text/csv", "q=;;;", "*", "Bearer tp_x_y", "tp_0_0", "a=b", "x" * 500]),
    max_size=2,
)  # fmt: skip


def test_whatever_is_sent_what_comes_back_is_documented(serve: Serve) -> None:
    client, document = described(serve)
    seen: set[int] = set()

    @settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(
        st.sampled_from(["GET", "GET", "GET", "POST", "POST", "PUT", "DELETE", "HEAD", "OPTIONS"]),
        PATHS_ASKED,
        st.lists(NAMES, max_size=4),
        st.lists(FILTERS, max_size=2),
        st.none() | FORMATS,
        st.none() | BODIES,
        HEADERS,
    )
    def one(method, path, names, filters, format_name, body, headers):  # type: ignore[no-untyped-def]
        params: list[tuple[str, str]] = [("filter", text) for text in filters]
        if names:
            params.append(("variables", ",".join(names)))
        if format_name is not None:
            params.append(("format", format_name))
        response = client(method, path, params=params, content=body, headers=headers)
        seen.add(response.status_code)
        check(document, method, response)

    one()
    # The rarest answers are asked for, whatever was drawn.
    asked = "/tables/czech-autoworkers/queries"
    for method, path, body in (
        ("GET", "/nowhere", None),
        ("DELETE", "/tables", None),
        ("POST", asked, b" " * 20_000),
    ):
        response = client(method, path, content=body)
        seen.add(response.status_code)
        check(document, method, response)
    assert {200, 400, 404, 405, 413} <= seen
    # The history is sound, and what is served is what was.
    assert client.server.table.verified().lines == client.server.table.length


def schema_valid(schema: Mapping[str, Any]) -> list[Any]:
    """Values at the edges of a schema."""
    if "enum" in schema:
        return list(schema["enum"])
    if "anyOf" in schema:
        return schema_valid(schema["anyOf"][0])
    kind = schema.get("type")
    if kind == "integer":
        return [schema.get("minimum", 1), 10**6]
    if kind == "array":
        return [[one] for one in schema_valid(schema["items"])]
    if kind == "object":
        each = {name: schema_valid(part)[0] for name, part in schema.get("properties", {}).items()}
        return [each, {name: each[name] for name in schema.get("required", ())}]
    return ["A", "Z"]


def test_what_the_document_lets_pass_is_understood(serve: Serve) -> None:
    """Each parameter and body at the edges of its schema, and the methods that an address takes."""
    client, document = described(serve)
    told, asked = document["paths"], 0
    for path, operations in told.items():
        for method, operation in operations.items():
            every = [one | {"schema": resolved(document, one["schema"])} for one in operation["parameters"]]
            wanted = {one["name"]: schema_valid(one["schema"])[0] for one in every if one.get("required")}
            wanted |= {"id": "czech-autoworkers"} if "{id}" in path else {}
            body = operation.get("requestBody", {}).get("content", {}).get("application/json")
            bodies = [None] if body is None else schema_valid(body["schema"])
            for one in (None, *every):
                tried = [None] if one is None else schema_valid(one["schema"])
                for value, sent in itertools.product(tried, bodies):
                    given = wanted if one is None or one["name"] == "id" else wanted | {one["name"]: value}
                    address = re.sub(r"\{(\w+)\}", lambda m, said=given: str(said[m[1]]), path)
                    query = {name: value for name, value in given.items() if f"{{{name}}}" not in path}
                    found = client(method.upper(), address, params=query, json=sent)
                    asked += 1
                    check(document, method.upper(), found)
                    said = found.json()["detail"] if found.status_code == 400 else ""
                    # What a variable is called, and what is in it, stands in no schema.
                    assert not re.search("format|language|page has|at least one", said), (
                        address,
                        query,
                        said,
                    )
        named = {"id": "x", **dict.fromkeys(re.findall(r"\{(\w+)\}", path), "1")}
        refused = client("OPTIONS", re.sub(r"\{(\w+)\}", lambda m, said=named: said[m[1]], path))
        assert set(refused.headers["allow"].split(", ")) - {"HEAD"} == {m.upper() for m in operations}, path
    assert asked > 100


def test_limits_of_size_and_rate(serve: Serve) -> None:
    from dataclasses import replace

    from table_server import czech

    from tabprotect.server.guard.limiter import Limiter

    service = replace(czech(), limits=replace(czech().limits, requests=3, window=10, name=5))
    client: Client = serve(service)
    now = [0.0]
    client.server.limiter = Limiter(clock=lambda: now[0])
    asked = [client.get("/tables") for _ in range(4)]
    assert [r.status_code for r in asked] == [200, 200, 200, 429]
    assert [r.headers["x-ratelimit-remaining"] for r in asked] == ["2", "1", "0", "0"]
    assert asked[3].json()["code"] == "rate_limited" and int(asked[3].headers["retry-after"]) == 10
    # What tells the limits is free.
    assert client.get("/config").status_code == client.get("/health").status_code == 200
    now[0] = 10.0
    assert client.ask("A", user="a" * 6).json()["code"] == "invalid_query"
    assert client.ask("A", user="a").status_code == 201
    address = "/tables/czech-autoworkers/data?variables=A"
    tag = client.get(address).headers["etag"]
    now[0] = 20.0
    # An answer that the client has already is free, too.
    for _ in range(5):
        assert client.get(address, headers={"If-None-Match": tag}).status_code == 304
    chunks = client(
        "POST",
        "/tables/czech-autoworkers/queries",
        content=iter_chunks(),
        headers={"Content-Type": "application/json"},
    )
    assert (chunks.status_code, chunks.json()["code"]) == (413, "too_large")


async def iter_chunks():  # type: ignore[no-untyped-def]
    """A body that does not say how long it is."""
    for _ in range(100):
        yield b" " * 1000
