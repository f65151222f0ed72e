"""The attack suite, against our server and, to see that it bites, against a plain cell-key server."""

from __future__ import annotations

import json
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
from tabprotect.server.attack.target import Heard, Sent, Target
from tabprotect.server.service import BeyondChoice


def ours(client: Client) -> Target:
    """Our server, in this process."""

    def send(sent: Sent) -> Heard:
        response = client(sent.method, sent.path, headers=dict(sent.headers), content=sent.body)
        media = response.headers.get("content-type", "")
        return Heard(response.status_code, media, response.content)

    return send


def cell_keys(table: Table, *, careless: bool = False) -> Target:
    """What many offices run: every record has a key, and a cell's noise follows from the sum of
    its records' keys, so that the same cell is the same wherever it is asked for.

    Parameters
    ----------
    careless
        Refuses tables of more than three variables, but not those with a filter.
    """
    keys = np.random.default_rng(1).integers(0, 2**32, table.domain.shape) * (table.counts > 0)
    summed = Table.dense(table.domain, keys)

    def send(sent: Sent) -> Heard:
        parts = urlsplit(sent.path)
        if parts.path == "/tables":
            return _json({"tables": [{"id": "t", "label": "t"}]})
        if parts.path.endswith("/metadata"):
            variables = table.domain.variables
            said = [
                {"id": v.name, "categories": [{"id": c} for c in v.categories]} for v in variables
            ]
            return _json({"variables": said})
        if parts.path == "/config":
            return _json({"formats": ["json-stat2"]})
        asked = parse_qs(parts.query)
        if "variables" not in asked or parts.path.count("/") != 3:
            return Heard(404, "application/problem+json", b'{"code": "not_found"}')
        names = asked["variables"][0].split(",")
        if careless and len(names) > 3 and "filter" not in asked:
            return Heard(403, "application/problem+json", b'{"code": "not_released"}')
        margin = table.margin(names)
        noise = summed.margin(names).counts % 2**32 * 5 // 2**32 - 2
        noisy = np.where(margin.counts > 0, np.maximum(margin.counts + noise, 0), 0)
        shown = Table.dense(margin.domain, noisy)
        return Heard(200, "application/json", formats()["jsonstat"].publish(shown, None, ""))

    return send


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
    found = by_name(attacked(ours(client), 64))
    assert sum(finding.succeeded for finding in found.values()) == 0
    # Frozen, nothing is refused any more: there is nothing to get round.
    refused = bool(found["refusals"].tried)
    assert refused is not frozen and bool(found["tracker"].tried) is refused
    assert [f.succeeded for f in attacked_answers(str(tmp_path / "server0.sqlite"))] == [0, 0]


def test_a_plain_cell_key_server_gives_its_noise_away() -> None:
    table = open_table("example:czech-autoworkers").table
    found = by_name(attacked(cell_keys(table), 41))
    # Every count of one and two variables: 6 times 2 and 15 times 4.
    assert found["averaging"].succeeded == 72


def test_a_careless_server_is_found_out() -> None:
    table = open_table("example:czech-autoworkers").table
    found = by_name(attacked(cell_keys(table, careless=True), 60))
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
