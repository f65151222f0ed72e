"""The API: what is decided, in which words, and that every way out tells the same numbers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from table_server import Client, Serve, czech

from tabprotect.engine.bundle.verify import Verifying, verify_bytes
from tabprotect.engine.formats.table_reading import read_table
from tabprotect.engine.project.sources import open_table
from tabprotect.server import api
from tabprotect.server.egress import OUTPUTS

TABLE = "/tables/czech-autoworkers"

JSON = {"Content-Type": "application/json"}


def test_what_is_served(serve: Serve) -> None:
    client = serve()
    assert client.get("/tables").json() == {
        "tables": [{"id": "czech-autoworkers", "label": client.server.table.label}]
    }
    variables = client.get(f"{TABLE}/metadata").json()["variables"]
    assert [v["id"] for v in variables] == list("ABCDEF")
    assert all(set(v) == {"id", "label", "categories", "levels"} for v in variables)
    assert all(set(c) == {"id", "label"} for v in variables for c in v["categories"])
    config = client.get("/config").json()
    assert config["limits"]["cells"] == 10_000 and config["criterion"]["threshold"] == 10
    assert "source" not in json.dumps(config)
    assert client.get("/health").json() == {"status": "ok"}
    assert 'tabprotect_responses_total{status="200"}' in client.get("/metrics").text


def test_decided_refused_and_answered_again(serve: Serve) -> None:
    client = serve()
    first = client.ask("C", "A", user="ann")
    assert first.status_code == 201
    said = first.json()
    assert (said["number"], said["decision"], said["code"]) == (1, "release", "released")
    truth = open_table("example:czech-autoworkers").table.margin(["A", "C"])
    assert said["answer"]["variables"] == ["A", "C"]
    assert said["answer"]["data"]["value"] == truth.counts.reshape(-1).tolist()
    refused = client.ask("A", "B", "C", "D", "E")
    assert refused.status_code == 403
    assert refused.headers["content-type"] == "application/problem+json"
    problem = refused.json()
    assert problem["code"] == "not_released" and problem["permanent"]
    assert problem["projection"] == [["A", "C"]]
    assert not any(c.isdigit() for c in problem["detail"])
    again = client.ask("A", "C")
    assert again.json()["answer"] == said["answer"] and again.json()["number"] == 3
    assert client.get("/queries/1").json()["answer"] == said["answer"]
    assert client.get("/queries/2").json()["code"] == "not_released"
    frontier = client.get(f"{TABLE}/frontier").json()
    assert frontier["released"] == [["A", "C"]]
    assert frontier["refused"] == [["A", "B", "C", "D", "E"]]


def test_an_answer_is_a_bundle_that_anybody_verifies(serve: Serve) -> None:
    client = serve()
    mark = client.ask("A", "B").json()["answer"]["bundle"]
    response = client.get(f"/bundles/{mark}")
    assert "immutable" in response.headers["cache-control"]
    found = verify_bytes(response.content, Verifying(quick=True, fingerprint=mark))
    truth = open_table("example:czech-autoworkers").table
    assert found.release.table == truth.margin(["A", "B"])
    assert found.release.mechanism.method == "publish_margins"
    assert found.release.mechanism.parameters["released_frontier"] == [["A", "B"]]
    tag = response.headers["etag"]
    assert client.get(f"/bundles/{mark}", headers={"If-None-Match": tag}).status_code == 304
    assert client.get(f"/bundles/{'0' * 64}").json()["code"] == "not_found"


@pytest.mark.parametrize("name", OUTPUTS)
def test_every_format_tells_the_same_numbers(serve: Serve, name: str, tmp_path: Path) -> None:
    client = serve()
    truth = open_table("example:czech-autoworkers").table.margin(["A", "B", "C"])
    shown = truth.counts[[0]]
    assert client.ask("A", "B", "C").status_code == 201
    for filters, expected in (("", truth.counts), ("&filter=A%3D" + label(client), shown)):
        address = f"{TABLE}/data?variables=A,B,C{filters}"
        response = client.get(f"{address}&format={name}")
        assert response.status_code == 200
        assert np.array_equal(counts_of(name, response.content, tmp_path), expected)
        media = response.headers["content-type"]
        by_accept = client.get(address, headers={"Accept": media.partition(";")[0]})
        assert by_accept.content == response.content
        assert by_accept.headers["etag"] == response.headers["etag"]
        same = client.get(f"{address}&format={name}", headers={"If-None-Match": response.headers["etag"]})
        assert same.status_code == 304 and not same.content


def label(client: Client) -> str:
    return client.server.table.domain["A"].categories[0]


def counts_of(name: str, content: bytes, folder: Path) -> np.ndarray:
    """The counts in a file, read by somebody else's eyes where the engine does not read it."""
    if name == "html":
        rows = ElementTree.fromstring(
            content.decode().partition("<tbody>")[2].partition("</tbody>")[0].join(("<t>", "</t>"))
        )
        cells = {tuple(h.text for h in row.findall("th")): int(row.find("td").text) for row in rows}  # type: ignore[union-attr, arg-type]
        return np.array(list(cells.values())).reshape(-1, 2, 2)
    if name == "xml":
        table = ElementTree.fromstring(content)
        shape = [len(v.findall("category")) for v in table.findall("variable")]
        counts = np.full(shape, -1)
        for cell in table.findall("cell"):
            counts[tuple(map(int, cell.attrib["index"].split()))] = int(cell.text or "")
        return counts
    path = folder / f"t.{OUTPUTS[name].suffix}"
    path.write_bytes(content)
    return read_table(path).table.counts


def test_what_cannot_be_understood(serve: Serve) -> None:
    client = serve()
    for code, status, path in (
        ("unknown_table", 404, "/tables/nothing/metadata"),
        ("invalid_query", 400, f"{TABLE}/data"),
        ("invalid_query", 400, f"{TABLE}/data?variables=A,Z"),
        ("invalid_query", 400, f"{TABLE}/data?variables=A,A"),
        ("invalid_query", 400, f"{TABLE}/data?variables=A@town"),
        ("invalid_query", 400, f"{TABLE}/data?variables=A&format=matrix"),
        ("invalid_query", 400, f"{TABLE}/data?variables=A&filter=B%3Db1"),
        ("invalid_query", 400, f"{TABLE}/data?variables=A&filter=A%3Dnone"),
        ("invalid_query", 400, f"{TABLE}/data?variables=A&secret=1"),
        ("not_found", 404, "/nothing"),
        ("not_found", 404, "/queries/99"),
        ("method_not_allowed", 405, f"{TABLE}/queries"),
    ):
        response = client.get(path)
        assert response.status_code == status, path
        assert response.headers["content-type"] == "application/problem+json"
        assert response.json()["code"] == code and response.json()["status"] == status
    refused = client.get(f"{TABLE}/data?variables=A", headers={"Accept": "image/png"})
    assert refused.json()["code"] == "not_acceptable"
    for body in (b"", b"[]", b"{", b'{"variables": "A"}', b"[" * 9000, b'{"variables": ["A"], "x": 1}'):
        response = client("POST", f"{TABLE}/queries", content=body, headers=JSON)
        assert (response.status_code, response.json()["code"]) == (400, "invalid_query")
    # Nothing of this was a query.
    assert client.get(f"{TABLE}/frontier").json()["released"] == []


def test_too_many_cells_and_variables_that_are_not_offered(serve: Serve) -> None:
    service = czech()
    service = replace(
        service, limits=replace(service.limits, cells=8), table=replace(service.table, disallowed=("F",))
    )
    client = serve(service)
    response = client.ask("A", "B", "C", "D")
    assert (response.status_code, response.json()["code"]) == (403, "too_many_cells")
    assert "2 x 2 x 2 x 2 = 16" in response.json()["detail"]
    response = client.ask("A", "F")
    assert (response.status_code, response.json()["code"]) == (403, "disallowed_variable")
    metadata = client.get(f"{TABLE}/metadata").json()
    assert [v["id"] for v in metadata["variables"]] == list("ABCDE")
    assert metadata["disallowed"] == ["F"]


def test_put_off_and_released_later(serve: Serve) -> None:
    from tabprotect.server.service import RuleChoice

    client = serve(czech(rule=RuleChoice("by_demand", {"requests": 2})))
    first = client.ask("A", "B")
    assert (first.status_code, first.json()["code"]) == (202, "deferred")
    place = first.headers["location"]
    assert client.get(place).json()["decision"] == "defer"
    assert client.ask("A", "B", "C").status_code == 202
    assert client.ask("A", "B").status_code == 201
    later = client.get(place).json()
    assert later["decision"] == "release" and later["answer"]["variables"] == ["A", "B"]


def test_decisions_are_told_at_multiples_of_the_quantum(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(api.anyio, "sleep", sleep)
    service = czech()
    client = serve(replace(service, limits=replace(service.limits, quantum=3.0)))
    monkeypatch.setattr(api.time, "monotonic", lambda: 100.0)
    assert client.ask("A").status_code == 201
    assert client.ask("A", "B", "C", "D", "E").status_code == 403
    assert waited == [3.0, 3.0]
    # What was released before is known to everybody.
    assert client.ask("A").status_code == 201 and len(waited) == 2
