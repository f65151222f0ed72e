"""PxWebApi 2 and 1 and SDMX-REST 2: the same numbers as the own API's, and nothing is decided."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from table_server import Client, Serve, czech, region_table, service_of

from tabprotect.engine.formats.table_reading import read_table
from tabprotect.engine.tables.table import Table
from tabprotect.server.service import Access

TABLE = "/v2/tables/czech-autoworkers"
DATA = f"{TABLE}/data"


@pytest.fixture
def client(serve: Serve) -> Client:
    served = serve()
    assert served.ask("A", "C").status_code == 201
    return served


def values(client: Client, **params: str) -> list[int]:
    said: list[int] = client.get(DATA, params=params).json()["value"]
    return said


def test_config_tables_and_metadata(client: Client) -> None:
    config = client.get("/v2/config").json()
    assert (config["apiVersion"], config["maxDataCells"]) == ("2.0.0", 10_000)
    listed = client.get("/v2/tables").json()
    assert listed["tables"][0]["id"] == "czech-autoworkers"
    assert listed["page"]["totalElements"] == 2
    # Of what is out there is a table of its own.
    own = listed["tables"][1]
    assert own["variableNames"] == ["A", "C"]
    assert client.get("/v2/tables?query=nothing").json()["page"]["totalElements"] == 0
    second = client.get("/v2/tables?pageSize=1&pageNumber=2").json()
    assert [t["id"] for t in second["tables"]] == [own["id"]]
    assert client.get("/v2/tables?pageNumber=2").status_code == 404
    assert client.get(TABLE).json()["variableNames"] == list("ABCDEF")
    metadata = client.get(f"{TABLE}/metadata").json()
    assert (metadata["version"], metadata["class"]) == ("2.0", "dataset")
    assert metadata["id"] == list("ABCDEF") and metadata["size"] == [2] * 6
    dimension = metadata["dimension"]["A"]
    assert dimension["category"]["index"] == {"no": 0, "yes": 1}
    assert dimension["extension"]["elimination"] is True
    assert client.get("/v2/tables/x").json()["code"] == "unknown_table"
    assert client.get(f"{TABLE}?lang=xx").json()["code"] == "invalid_query"


def test_what_is_out_is_answered_and_what_is_not_is_refused(client: Client) -> None:
    truth = client.server.table.state.releases.evidence.cells.table
    both = truth.margin(["A", "C"]).counts
    every = {"valueCodes[A]": "*", "valueCodes[C]": "*"}
    assert values(client, **every) == both.ravel().tolist()
    # No selection: what is out with the most variables.
    assert values(client) == both.ravel().tolist()
    some = {"valueCodes[A]": "*", "valuecodes[C]": "yes"}
    assert values(client, **some) == both[:, 1].tolist()
    # A variable that is not named is summed over.
    assert values(client, **{"valueCodes[a]": "*"}) == both.sum(axis=1).tolist()
    assert values(client, **every, stub="C", heading="A") == both.T.ravel().tolist()
    assert values(client, **{"valueCodes[A]": "YES", "valueCodes[C]": "top(1)"}) == [both[1, 0]]
    posted = {"selection": [{"variableCode": "A", "valueCodes": ["no"]}]}
    assert client("POST", DATA, json=posted).json()["value"] == [both[0].sum()]
    refused = client.get(DATA, params={"valueCodes[A]": "*", "valueCodes[B]": "*"})
    assert refused.status_code == 403
    assert refused.headers["content-type"] == "application/problem+json"
    said = refused.json()
    assert (said["code"], said["permanent"], said["projection"]) == ("not_out", False, [["A"]])
    assert said["released"] == [["A", "C"]]
    # What is told is how it may be asked for: then it is out.
    ask = said["ask"]
    assert client(ask["method"], ask["href"], json=ask["body"]).status_code == 201
    assert values(client, **{"valueCodes[A]": "*", "valueCodes[B]": "*"})


def test_no_request_decides_anything(client: Client) -> None:
    before = client.server.table.length
    body = {"selection": [{"variableCode": v, "valueCodes": ["*"]} for v in "AD"]}
    old = {"code": "D", "selection": {"filter": "all", "values": ["*"]}}
    sent: list[tuple[str, str, Any]] = [
        ("GET", f"{DATA}?valueCodes[D]=*", None),
        ("POST", DATA, body),
        ("POST", "/v1/en/tables/czech-autoworkers", {"query": [old]}),
        ("GET", "/sdmx/v2/data/dataflow/TABPROTECT/czech-autoworkers/1.0/*", None),
    ]
    told = [client(method, path, json=said).status_code for method, path, said in sent]
    assert told == [403, 403, 403, 404]
    assert client.server.table.length == before
    assert client.get("/tables/czech-autoworkers/frontier").json()["released"] == [["A", "C"]]


def test_answers_do_not_depend_on_the_counts_behind_them(serve: Serve, tmp_path: Path) -> None:
    """Two originals with the same released tables cannot be told apart."""
    tables = [region_table(), region_table()]
    moved = tables[1].counts.copy()
    moved[0, 0, 0] += 1
    moved[0, 1, 0] -= 1
    moved[0, 0, 1] -= 1
    moved[0, 1, 1] += 1
    tables[1] = Table.dense(tables[0].domain, moved)
    asked = [
        "/v2/tables", "/v2/tables/t/metadata", "/v2/tables/t/data", "/v1/en/tables/t",
        "/v2/tables/t/data?valueCodes[region]=*", "/sdmx/v2/structure/dataflow?references=all",
        "/v2/tables/t/data?valueCodes[region]=*&valueCodes[age group]=*&valueCodes[sex]=*",
    ]  # fmt: skip
    told = []
    for table in tables:
        client = serve(service_of(table, tmp_path))
        assert client.ask("region", "sex").status_code == 201
        answers = [client.get(path) for path in asked]
        told.append([(answer.status_code, answer.content) for answer in answers])
    assert told[0] == told[1]


def test_every_format_tells_the_same_numbers(client: Client, tmp_path: Path) -> None:
    every = {"valueCodes[A]": "*", "valueCodes[C]": "*"}
    truth = client.server.table.state.releases.evidence.cells.table.margin(["A", "C"])
    for name, suffix in {"px": "px", "csv": "csv", "xlsx": "xlsx", "parquet": "parquet"}.items():
        answer = client.get(DATA, params=every | {"outputFormat": name})
        path = tmp_path / f"a.{suffix}"
        path.write_bytes(answer.content)
        assert read_table(path).table == truth
    page = client.get(DATA, params=every | {"outputFormat": "html"})
    assert page.headers["content-type"].startswith("text/html")
    assert all(f"<td>{count}</td>" in page.text for count in truth.counts.ravel())
    wrong = client.get(DATA, params=every | {"outputFormat": "docx"})
    assert (wrong.status_code, wrong.json()["code"]) == (400, "invalid_query")
    same = client.get(DATA, params=every)
    again = client.get(DATA, params=every, headers={"If-None-Match": same.headers["etag"]})
    assert "immutable" in same.headers["cache-control"] and again.status_code == 304


def test_levels_are_code_lists(serve: Serve, tmp_path: Path) -> None:
    table = region_table()
    client = serve(service_of(table, tmp_path))
    client.ask("region", "sex")
    metadata = client.get("/v2/tables/t/metadata").json()
    (code_list,) = metadata["dimension"]["region"]["extension"]["codeLists"]
    told = client.get(f"/v2/codelists/{code_list['id']}").json()
    assert [value["valueMap"] for value in told["values"]] == [["r1", "r2", "r3"], ["r4", "r5", "r6"]]
    coarse = table.counts.sum(axis=1).reshape(2, 3, 2).sum(axis=1)
    params = {"valueCodes[region]": "*", "valueCodes[sex]": "*", "codelist[region]": code_list["id"]}
    answer = client.get("/v2/tables/t/data", params=params).json()
    assert answer["id"] == ["region", "sex"]
    assert np.array_equal(np.reshape(answer["value"], (2, 2)), coarse)
    single = params | {"valueCodes[region]": "S", "outputValues[region]": "single"}
    answer = client.get("/v2/tables/t/data", params=single).json()
    assert list(answer["dimension"]["region"]["category"]["index"]) == ["r4", "r5", "r6"]
    assert answer["value"] == table.counts.sum(axis=1)[3:].ravel().tolist()
    # The default selection, sent as it stands, is what no selection gives.
    default = client.get("/v2/tables/t/defaultselection").json()
    plain = client.get("/v2/tables/t/data").json()
    assert client("POST", "/v2/tables/t/data", json=default).json()["value"] == plain["value"]


def test_what_is_sent_wrongly_is_refused(client: Client) -> None:
    every = {"valueCodes[A]": "*", "valueCodes[C]": "*"}
    wrong = ({"valueCodes[Z]": "*"}, {"valueCodes[A]": "x"}, {"x": "1"}, {"codelist[A]": "q"})
    for params in wrong:
        said = client.get(DATA, params=every | params)
        assert (said.status_code, said.json()["code"]) == (400, "invalid_query"), params
    for body in (
        b"[]",
        b"{",
        b'{"selection": [1]}',
        b'{"selection": [{"variableCode": "A", "valueCodes": [1]}]}',
    ):
        assert client("POST", DATA, content=body).status_code == 400
        assert (
            client("POST", "/v1/en/tables/czech-autoworkers", content=b'{"query": [{}]}').status_code == 400
        )
    assert client.get("/sdmx/v2/structure/dataflow/ELSEWHERE/*/+").text.count("<s:Dataflow ") == 0


def test_pages_elsewhere_read_by_get_alone(serve: Serve) -> None:
    origin = {"Origin": "https://a.example"}
    served = serve(replace(czech(), access=Access(prices=False, allowed_origins=(origin["Origin"],))))
    served.ask("A")
    shared = served.get(DATA, headers=origin)
    assert shared.headers["access-control-allow-origin"] == origin["Origin"]
    body = json.dumps({"selection": []})
    posted = served("POST", DATA, content=body, headers=origin)
    assert posted.status_code == 200 and "access-control-allow-origin" not in posted.headers
