"""Variables at a level: in queries, in what is offered, in bundles and beyond the frontier."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from table_server import QUICK, Client, Serve, region_table, service_of

from tabprotect.engine.bundle.verify import verify_bytes
from tabprotect.engine.formats.registered import formats
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Level, Variable
from tabprotect.server.service import Access, BeyondChoice, CriterionChoice, Service, TableSource

NUTS = Level("nuts2", ("N", "N", "N", "S", "S", "S"))


@pytest.fixture
def client(serve: Serve, tmp_path: Path) -> Client:
    """Six regions in two halves, by age and sex."""
    domain = Domain(
        (
            Variable("region", ("r1", "r2", "r3", "r4", "r5", "r6"), (NUTS,)),
            Variable("age", ("young", "old")),
            Variable("sex", ("f", "m")),
        )
    )
    counts = np.random.default_rng(3).integers(4, 30, size=domain.shape)
    counts[0, 0, 0], counts[4, 1, 1] = 1, 2
    path = tmp_path / "t.parquet"
    path.write_bytes(formats()["parquet"].write(Table.dense(domain, counts)))
    service = Service(
        table=TableSource(source=str(path)),
        criterion=CriterionChoice(threshold=12),
        beyond=BeyondChoice("perturbed"),
        limits=QUICK,
        access=Access(prices=False),
    )
    return serve(service)


def test_a_coarse_level_goes_out_where_a_fine_one_does_not(client: Client) -> None:
    metadata = client.get("/tables/table/metadata").json()["variables"]
    region = next(v for v in metadata if v["id"] == "region")
    assert [level["id"] for level in region["levels"]] == ["region@nuts2"]
    assert [c["id"] for c in region["levels"][0]["categories"]] == ["N", "S"]
    coarse = client.ask("region@nuts2", "age").json()
    assert coarse["decision"] == "release"
    assert coarse["answer"]["variables"] == ["region@nuts2", "age"]
    truth = client.server.table.state.releases.evidence.cells.table
    expected = truth.margin(["region@nuts2", "age"])
    assert coarse["answer"]["data"]["value"] == expected.counts.ravel().tolist()
    found = verify_bytes(client.get(f"/bundles/{coarse['answer']['bundle']}").content)
    assert found.release.table == expected
    fine = client.ask("region", "age", "sex")
    assert fine.json()["code"] == "not_released"
    assert fine.json()["projection"] == [["region@nuts2", "age"]]
    where = "/tables/table/data?variables=region@nuts2,age&format=csv&filter=region@nuts2%3DS"
    shown = client.get(where).text.splitlines()
    assert len(shown) == 3 and shown[1].startswith("S,young,")
    assert "region@nuts2" in client.get("/").text
    assert client.get("/frontier").status_code == 200


def test_beyond_the_frontier_all_levels_agree(client: Client) -> None:
    client.ask("region@nuts2", "age")
    client.ask("sex")
    client.server.table.freeze("olga")
    fine = client.ask("region", "age").json()
    assert fine["decision"] == "perturb"
    counts = np.array(fine["answer"]["data"]["value"]).reshape(6, 2)
    coarse = np.array(client.ask("region@nuts2", "age").json()["answer"]["data"]["value"])
    assert np.array_equal(counts.reshape(2, 3, 2).sum(axis=1).ravel(), coarse)


def test_a_refusal_over_levels_is_answered_where_few_tables_are_possible(
    serve: Serve, tmp_path: Path
) -> None:
    """It is not priced: possible tables are listed by whole variables."""
    client = serve(service_of(region_table(), tmp_path))
    client.ask("region@nuts2", "age group")
    client.ask("region", "sex")
    refused = client.ask("region", "age group", "sex")
    assert (refused.status_code, refused.json()["code"]) == (403, "not_released")
