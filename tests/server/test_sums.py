"""Sums that are served: judged by who contributes to them, and released as sums."""

from __future__ import annotations

from pathlib import Path

import pytest
from magnitude_cases import Rows, table_of
from table_server import QUICK, Serve

from tabprotect.engine.bundle.verify import verify_bytes
from tabprotect.engine.errors import InputError
from tabprotect.engine.magnitudes.files.table_files import write_magnitudes
from tabprotect.server.service import Access, BeyondChoice, Service, TableSource, read


def _service(path: Path, measure: str = "turnover") -> Service:
    """A service of a small table of sums: rows may go out, and the table itself may not."""
    rows: Rows = {(0, 0, "a"): 50, (1, 0, "f"): 30, (1, 0, "g"): 31, (1, 0, "h"): 35}
    for name in "klmn":
        rows = {**rows, (0, 1, name): 20 + ord(name) - ord("k"), (1, 1, name * 2): 44}
    write_magnitudes(table_of(rows, (2, 2)), path)
    source = TableSource(source=str(path), measure=measure)
    return Service(table=source, limits=QUICK, access=Access(prices=False))


def test_sums_go_out_where_nobody_learns_of_another(serve: Serve, tmp_path: Path) -> None:
    client = serve(_service(tmp_path / "t.parquet"))
    given = client.ask("r").json()
    assert given["decision"] == "release"
    assert given["answer"]["data"]["value"] == [136, 272]
    release = verify_bytes(client.get(f"/bundles/{given['answer']['bundle']}").content).release
    assert not release.tables and release.magnitudes[0].measure == "turnover"
    assert release.magnitudes[0].value.tolist() == [136, 272, 408]
    assert client.ask("r", "c").json()["code"] == "not_released"
    # The number of a rule about sums is the house's own.
    assert client.get("/config").json()["criterion"] == {"name": "p"}


def test_what_cannot_be_served_is_refused(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    service = _service(path, "wages")
    with pytest.raises(InputError, match="'turnover', not 'wages'"):
        serve(service)
    file = tmp_path / "service.toml"
    file.write_text(f'[table]\nsource = "{path}"\nmeasure = "turnover"\n[beyond]\nanswer = "perturbed"\n')
    with pytest.raises(InputError, match="not perturbed"):
        read(file)
    assert Service(table=TableSource("a"), beyond=BeyondChoice()).settings["table"].get("measure") is None
