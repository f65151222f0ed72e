"""Other people's clients of PxWebApi 2, PxWebApi 1 and SDMX-REST 2, unchanged, over the network."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sdmx
import uvicorn
from pxweb import PxApi
from pyaxis import pyaxis
from pyjstat import pyjstat
from requests.exceptions import HTTPError
from table_server import czech, region_table, service_of

from tabprotect.engine.bundle.tables.intervals import FIGURES, Doubt
from tabprotect.engine.bundle.verify import verify_bytes
from tabprotect.server.application import application, started
from tabprotect.server.server import Server
from tabprotect.server.service import BeyondChoice, RuleChoice, Service, TableSource

pytestmark = pytest.mark.filterwarnings("ignore:Shouldn't use this function:DeprecationWarning")

TABLE = region_table()
COARSE = TABLE.counts.sum(axis=2).reshape(2, 3, 2).sum(axis=1)
BY_SEX = TABLE.counts.sum(axis=1)


@contextmanager
def on_the_loopback(served: Server) -> Iterator[str]:
    server = uvicorn.Server(uvicorn.Config(application(served), port=0, log_level="critical"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server on the loopback of which two sub-tables are out."""
    folder = tmp_path_factory.mktemp("server")
    with on_the_loopback(started(service_of(TABLE, folder), str(folder / "history.sqlite"))) as found:
        for names in (["region@nuts2", "age group"], ["region", "sex"]):
            assert httpx.post(f"{found}/tables/t/queries", json={"variables": names}).status_code == 201
        yield found


def test_pxwebpy(address: str) -> None:
    api = PxApi(f"{address}/v2", disable_cache=True)
    assert api.get_config()["apiVersion"] == "2.0.0" and api.number_of_tables == 3
    assert api.search("sex")["tables"][0]["id"] == "t"
    variables = api.get_table_variables("t")
    assert list(variables) == ["region", "age group", "sex"]
    assert variables["region"]["elimination"] is True
    whole = api.get_table_data("t", value_codes={"region": "*", "sex": "*"})
    assert [row["value"] for row in whole] == BY_SEX.ravel().tolist()
    name = variables["region"]["codelists"][0]["id"]
    grouped = api.get_table_data(
        "t", value_codes={"region": "*", "age group": "*"}, code_list={"region": name}
    )
    assert [row["value"] for row in grouped] == COARSE.ravel().tolist()
    assert {row["age group"] for row in grouped} == {"Young people", "Old people"}
    own = next(t["id"] for t in api.all_tables() if t["variableNames"] == ["region", "sex"])
    assert [r["value"] for r in api.get_table_data_all(own)] == BY_SEX.ravel().tolist()
    with pytest.raises(HTTPError, match="The sub-table is not out"):
        api.get_table_data_all("t")


def test_pxwebpy_reads_answers_with_noise(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    codes = {"area": rng.integers(0, 4, 900), "age": rng.integers(0, 3, 900)}
    pq.write_table(pa.table(codes | {"key": rng.random(900)}), tmp_path / "people.parquet")
    service = Service(
        table=TableSource(str(tmp_path / "people.parquet"), "t", "people", ("area", "age"), record_key="key"),
        rule=RuleChoice("cell_keys", {"D": 5, "V": 4.0, "js": 0}),
    )
    true = np.zeros((4, 3), dtype=int)
    np.add.at(true, (codes["area"], codes["age"]), 1)
    with on_the_loopback(started(service, str(tmp_path / "history.sqlite"))) as address:
        asked = httpx.post(f"{address}/tables/t/queries", json={"variables": ["area", "age"]}).json()
        api = PxApi(f"{address}/v2", disable_cache=True)
        read = [row["value"] for row in api.get_table_data("t", value_codes={"area": "*", "age": "*"})]
        assert read == asked["answer"]["data"]["value"]
        off = np.array(read) - true.ravel()
        assert off.any() and np.abs(off).max() <= 5
        one = api.get_table_data("t", value_codes={"area": ["2"], "age": "*"})
        assert [row["value"] for row in one] == read[6:9]
        # What nobody asked for is not out: no client adds it up behind the server's back.
        with pytest.raises(HTTPError, match="The sub-table is not out"):
            api.get_table_data("t", value_codes={"age": "*"})


def test_pyjstat_and_pyaxis_by_address(address: str) -> None:
    data = f"{address}/v2/tables/t/data?valueCodes[region]=from(r2)&valueCodes[sex]=m"
    frame = pyjstat.Dataset.read(f"{data}&outputFormat=json-stat2").write("dataframe")
    assert frame["value"].tolist() == BY_SEX[1:, 1].tolist()
    px = pyaxis.parse(uri=f"{data}&outputFormat=px", encoding="utf-8")["DATA"]
    assert px["DATA"].astype(int).tolist() == BY_SEX[1:, 1].tolist()
    query = {"query": [], "response": {"format": "json-stat"}}
    first = httpx.post(f"{address}/v1/en/tables/t", json=query).json()
    (old,) = pyjstat.from_json_stat(first)
    assert old["value"].tolist() == COARSE.ravel().tolist()


def test_pxwebapi_1_as_its_clients_walk_it(address: str) -> None:
    """The steps of R's pxweb: configuration, tree, variables, query."""
    base = f"{address}/v1/en"
    assert httpx.get(f"{base}?config").json()["maxCells"] == 10_000
    (folder,) = httpx.get(f"{base}/").json()
    listed = httpx.get(f"{base}/{folder['dbid']}/").json()
    assert [one["type"] for one in listed] == ["t"] * 3
    table = f"{base}/{folder['dbid']}/{listed[0]['id']}"
    variables = httpx.get(table).json()["variables"]
    assert variables[1]["valueTexts"] == ["Young people", "Old people"]
    chosen = {"region": ("item", ["r3", "r5"]), "sex": ("all", ["*"])}
    query = [{"code": code, "selection": {"filter": way, "values": of}} for code, (way, of) in chosen.items()]
    said = httpx.post(table, json={"query": query, "response": {"format": "json"}}).json()
    assert [column["type"] for column in said["columns"]] == ["d", "d", "c"]
    assert [int(row["values"][0]) for row in said["data"]] == BY_SEX[[2, 4]].ravel().tolist()
    other = {"code": "age group", "selection": {"filter": "top", "values": ["1"]}}
    refused = httpx.post(table, json={"query": [*query, other]})
    assert refused.status_code == 403


def test_sdmx1(address: str) -> None:
    logging.getLogger("sdmx").setLevel(logging.ERROR)
    source = {"id": "TABPROTECT", "name": "t", "url": f"{address}/sdmx/v2", "versions": ["3.0.0"]}
    sdmx.add_source(source, override=True)
    client = sdmx.Client("TABPROTECT")
    flows = client.dataflow().dataflow
    assert len(flows) == 2
    name = next(name for name, flow in flows.items() if "sex" in str(flow.name))
    whole = client.dataflow(name, params={"references": "all"})
    structure = whole.structure[name]
    assert [d.id for d in structure.dimensions] == ["region", "sex"]
    (codes,) = [one for key, one in whole.codelist.items() if key.endswith("region")]
    assert list(codes.items) == ["r1", "r2", "r3", "r4", "r5", "r6"]
    assert client.datastructure(name).structure[name].id == name
    for key, expected in (("*.*", BY_SEX), ("r2.*", BY_SEX[1])):
        found = sdmx.to_pandas(client.data(name, key=key))
        assert np.array_equal(found.to_numpy().astype(int), expected.ravel())
    for accept, begins in (
        ("application/vnd.sdmx.data+csv", "STRUCTURE"),
        ("application/vnd.sdmx.data+json", "{"),
    ):
        text = httpx.get(
            f"{address}/sdmx/v2/data/dataflow/TABPROTECT/{name}/1.0/*?c[sex]=f", headers={"Accept": accept}
        ).text
        # Of fewer codes it is still the same structure.
        assert text.startswith(begins) and name in text
    missing = httpx.get(f"{address}/sdmx/v2/data/dataflow/TABPROTECT/TABLE_00000000/1.0")
    assert missing.status_code == 404


def test_intervals_of_a_perturbed_table_as_clients_ask_for_contents(tmp_path: Path) -> None:
    """``ContentsCode``: the count, both ends and the estimate, as ``infer`` has them of the bundle."""
    served = started(replace(czech(), beyond=BeyondChoice("perturbed")), str(tmp_path / "h.sqlite"))
    with on_the_loopback(served) as found:
        name = served.table.id
        ask = f"{found}/tables/{name}/queries"
        assert httpx.post(ask, json={"variables": ["A", "C"]}).status_code == 201
        api = PxApi(f"{found}/v2", disable_cache=True)
        assert "ContentsCode" not in api.get_table_variables(name)
        served.table.freeze("olga")
        assert httpx.post(ask, json={"variables": ["A", "B"]}).json()["code"] == "perturbed"
        assert "ContentsCode" in api.get_table_variables(name)
        wanted = {"A": "*", "B": "*", "ContentsCode": "*"}
        rows = api.get_table_data(name, value_codes=wanted)
        given = served.table.out(served.table.lattice.query(["A", "B"]))
        assert given is not None and given.kind == "perturbed"
        content = served.table.bundle(given.fingerprint)
        assert content is not None
        believed = Doubt(verify_bytes(content).release).of_margin(("A", "B"))
        assert believed is not None
        expected = np.stack([given.table.counts, *(values / 10 for values in believed)], axis=-1)
        assert [row["value"] for row in rows] == expected.ravel().tolist()
        assert [row["ContentsCode"] for row in rows[:4]] == [*FIGURES]
        assert (expected[..., 1] <= expected[..., 3]).all() and (expected[..., 3] <= expected[..., 2]).all()
        assert (expected[..., 1] < expected[..., 2]).any()
        # What is exact has no doubt; without contents there is the count alone.
        exact = api.get_table_data(name, value_codes={"A": "*", "C": "*", "ContentsCode": ["lower", "upper"]})
        assert [row["value"] for row in exact[::2]] == [row["value"] for row in exact[1::2]]
        plain = api.get_table_data(name, value_codes={"A": "*", "B": "*"})
        assert [row["value"] for row in plain] == given.table.counts.ravel().tolist()
        first = {"query": [{"code": n, "selection": {"filter": "all", "values": ["*"]}} for n in wanted]}
        cells = httpx.post(f"{found}/v1/en/tables/{name}", json={**first, "response": {"format": "json"}})
        shown = [float(text) for row in cells.json()["data"] for text in row["values"]]
        assert shown == expected.ravel().tolist()
        data = f"{found}/v2/tables/{name}/data?valueCodes[A]=*&valueCodes[B]=*&valueCodes[ContentsCode]=*"
        px = pyaxis.parse(uri=f"{data}&outputFormat=px", encoding="utf-8")["DATA"]
        assert px["DATA"].astype(float).tolist() == expected.ravel().tolist()
        assert httpx.get(f"{data}&outputFormat=stata").status_code == 406
