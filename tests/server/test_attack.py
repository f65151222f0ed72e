"""The attack suite, against our server and, to see that it bites, against a plain cell-key server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from table_server import Client, Serve, czech

from tabprotect.engine.formats.registered import formats
from tabprotect.engine.project.opening.sources import open_table
from tabprotect.engine.tables.table import Table
from tabprotect.server.attack.stored import attacked_answers
from tabprotect.server.attack.suite import Finding, attacked
from tabprotect.server.attack.target import Heard
from tabprotect.server.service import BeyondChoice


class Ours:
    """Our server, in this process."""

    name = "ours"

    def __init__(self, client: Client) -> None:
        self.client = client

    def send(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> Heard:
        response = self.client(method, path, headers=dict(headers or {}), content=body)
        return Heard(
            response.status_code, response.headers.get("content-type", ""), response.content
        )


class CellKeys:
    """What many offices run: every sub-table is answered, each cell with noise of its own; and a
    careless way in, by which what is refused can be had with a filter."""

    name = "cell keys"

    def __init__(self, table: Table, *, careless: bool = False) -> None:
        self.table, self.careless = table, careless

    def send(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> Heard:
        parts = urlsplit(path)
        if parts.path == "/tables":
            return self._json({"tables": [{"id": "t", "label": "t"}]})
        if parts.path.endswith("/metadata"):
            variables = self.table.domain.variables
            said = [
                {"id": v.name, "categories": [{"id": c} for c in v.categories]} for v in variables
            ]
            return self._json({"variables": said})
        if parts.path == "/config":
            return self._json({"formats": ["json-stat2"]})
        asked = parse_qs(parts.query)
        names = asked.get("variables", [""])[0].split(",")
        if self.careless and len(names) > 3 and "filter" not in asked:
            return Heard(403, "application/problem+json", b'{"code": "not_released"}')
        margin = self.table.margin([name for name in names if name])
        seed = sum(ord(name) for name in "".join(names))
        noise = np.random.default_rng(seed).integers(-2, 3, size=margin.domain.shape)
        noisy = Table.dense(margin.domain, np.maximum(margin.counts + noise, 0))
        return Heard(200, "application/json", formats()["jsonstat"].publish(noisy, None, ""))

    @staticmethod
    def _json(said: object) -> Heard:
        return Heard(200, "application/json", json.dumps(said).encode())


def by_name(found: list[Finding]) -> dict[str, Finding]:
    return {finding.name: finding for finding in found}


@pytest.mark.parametrize("frozen", [False, True])
def test_our_server_gives_nothing(serve: Serve, frozen: bool, tmp_path: Path) -> None:
    client = serve(replace(czech(threshold=3), beyond=BeyondChoice("perturbed")))
    if frozen:
        for names in (["A", "B"], ["C", "D"], ["E", "F"]):
            client.ask(*names)
        client.server.desk.freeze("olga")
    found = by_name(attacked(Ours(client), 64))
    assert sum(finding.succeeded for finding in found.values()) == 0
    # Frozen, nothing is refused any more: there is nothing to get round.
    refused = bool(found["refusals"].tried)
    assert refused is not frozen and bool(found["tracker"].tried) is refused
    assert [f.succeeded for f in attacked_answers(str(tmp_path / "server0.sqlite"))] == [0, 0]


def test_a_plain_cell_key_server_gives_its_noise_away() -> None:
    table = open_table("example:czech-autoworkers").table
    found = by_name(attacked(CellKeys(table), 41))
    # Every count of one and two variables: 6 times 2 and 15 times 4.
    assert found["averaging"].succeeded == 72


def test_a_careless_server_is_found_out() -> None:
    table = open_table("example:czech-autoworkers").table
    found = by_name(attacked(CellKeys(table, careless=True), 60))
    assert found["tracker"].succeeded > 0 and found["refusals"].tried > 0


def test_counts_that_two_answers_prove_are_found() -> None:
    """Row sums 1 and 5, column sums 1 and 5 of one person each in a corner."""
    from tabprotect.server.attack.suite import Loot, from_answers

    loot = Loot()
    loot.add(("A", "B"), {("a", "x"): 2, ("b", "x"): 0})
    loot.add(("B", "C"), {("x", "p"): 2, ("x", "q"): 0})
    differencing, averaging = from_answers(loot)
    assert differencing.succeeded == 1 and averaging.succeeded == 0
    loot.add(("A",), {("a",): 3, ("b",): 0})
    assert from_answers(loot)[1].succeeded == 1
