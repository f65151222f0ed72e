"""A served table of 40 variables with 4 categories: nobody could list its cells or sub-tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from table_server import QUICK, Serve

from tabprotect.engine.bundle.verify import verify_bytes
from tabprotect.engine.errors import InputError
from tabprotect.engine.query_space.table_server import session
from tabprotect.server.application import started
from tabprotect.server.service import Access, CriterionChoice, RuleChoice, Service, TableSource

NAMES = tuple(f"v{k:02}" for k in range(40))


def test_forty_variables(serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    codes = rng.choice(4, (40, 4000), p=[0.7, 0.18, 0.08, 0.04]).astype(np.int8)
    path = tmp_path / "records.parquet"
    pq.write_table(pa.table(dict(zip(NAMES, codes, strict=True))), path)
    service = Service(
        table=TableSource(str(path), "wide", "wide", NAMES),
        criterion=CriterionChoice(threshold=3),
        limits=QUICK,
        access=Access(prices=False),
    )
    monkeypatch.setattr(session, "SNAPSHOT_LINES", 4)
    client = serve(service, str(tmp_path / "h.sqlite"))
    metadata = client.get("/tables/wide/metadata").json()
    assert len(metadata["variables"]) == 40 and metadata["disallowed"] == []
    first = client.ask("v00", "v07")
    assert first.status_code == 201
    truth = np.zeros((4, 4), dtype=int)
    np.add.at(truth, (codes[0], codes[7]), 1)
    assert first.json()["answer"]["data"]["value"] == truth.ravel().tolist()
    bundle = client.get(f"/bundles/{first.json()['answer']['bundle']}").content
    assert verify_bytes(bundle).release.mechanism.domain.names == ("v00", "v07")
    assert client.ask("v07", "v39").status_code == 201
    refused = client.ask("v01", "v02", "v03", "v04").json()
    assert (refused["code"], refused["permanent"]) == ("not_released", True)
    # What lies above what was refused is refused, however it is asked for.
    assert client.ask("v01", "v02", "v03", "v04", "v05").json()["code"] == "not_released"
    everything = client.ask(*NAMES).json()
    assert everything["code"] == "too_many_cells" and everything["cells"] == 4**40
    for page in ("/", "/frontier", "/look?variables=v00&variables=v07", "/mine"):
        assert client.get(page).status_code == 200
    state = client.server.table.state.releases
    later = serve(service, str(tmp_path / "h.sqlite")).server.table
    assert later.length == 4 and later.state.releases.released == state.released
    assert later.state.releases.unreleasable == state.unreleasable
    assert later.replayed(3)[1].released == state.released


def test_a_rule_that_lists_what_becomes_impossible_is_refused_at_the_start(tmp_path: Path) -> None:
    """Not at every query: 21 variables have more sub-tables than are listed, 6 have not."""
    codes = np.random.default_rng(1).choice(2, (21, 200), p=[0.8, 0.2]).astype(np.int8)
    path = tmp_path / "records.parquet"
    pq.write_table(pa.table(dict(zip(NAMES[:21], codes, strict=True))), path)
    database = f"sqlite:///{tmp_path / 'h.sqlite'}"
    few, many = (
        Service(
            table=TableSource(str(path), "wide", "wide", NAMES[:number]),
            criterion=CriterionChoice(threshold=1),
            rule=RuleChoice("weighted"),
            access=Access(prices=False),
        )
        for number in (6, 21)
    )
    with pytest.raises(InputError, match="'weighted' weighs what becomes impossible") as caught:
        started(many, database)
    assert "myopic" in caught.value.hint
    started(few, database.replace("h.", "few.")).close()
