"""The attack suite, against our server and, to see that it bites, against a plain cell-key server."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
from odd_requests import sent
from server_attacks import Heard, Loot, Sent, Target, attacked, attacked_answers, from_answers
from table_server import Client, Serve, czech

from tabprotect.engine.formats.registered import formats
from tabprotect.engine.project.sources import open_table
from tabprotect.engine.tables.cube import Cube
from tabprotect.engine.tables.table import Table
from tabprotect.server.service import BeyondChoice


def ours(client: Client) -> Target:
    """Our server, in this process."""

    def send(request: Sent) -> Heard:
        headers = [(n.lower().encode(), v.encode()) for n, v in request.headers.items()]
        asked = (request.method, request.path, headers, request.body or b"")
        status, said, content = asyncio.run(sent(client.app, *asked))
        return Heard(status, said.get(b"content-type", b"").decode(), content)

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
            said = [{"id": v.name, "categories": [{"id": c} for c in v.categories]} for v in variables]
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
        return Heard(200, "application/json", formats()["jsonstat"].publish(Cube(shown)))

    return send


def _json(said: object) -> Heard:
    return Heard(200, "application/json", json.dumps(said).encode())


PAGE = Path(__file__).parents[2] / "resources/docs/methods/table_server_attacks.md"

ENTRY = re.compile(r"([\d,]+) of ([\d,]+)")


def told(column: str) -> dict[str, tuple[int, int]]:
    """What the page says that the attacks got and tried, of one server."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.read_text().splitlines()
            if line.startswith("|")]  # fmt: skip
    at = rows[0].index(column)
    entries = {row[0]: ENTRY.fullmatch(row[at]) for row in rows[2:]}
    return {
        name: (int(e[1].replace(",", "")), int(e[2].replace(",", ""))) for name, e in entries.items() if e
    }


def found(target: Target) -> dict[str, tuple[int, int]]:
    """What the attacks got and tried."""
    return {each.name: (each.succeeded, each.tried) for each in attacked(target, 64)}


def test_our_server_gives_nothing(serve: Serve, tmp_path: Path) -> None:
    client = serve(czech(threshold=3))
    came = found(ours(client))
    assert came == told("ours") and not sum(got for got, _ in came.values())
    # Nothing got round is worth something only where something was refused.
    assert came["tracker"][1] and came["formats"][1] and came["refusals"][1]
    assert [f.succeeded for f in attacked_answers(tmp_path / "server0.sqlite")] == [0, 0]


def test_frozen_it_refuses_nothing_and_contradicts_nothing(serve: Serve) -> None:
    client = serve(replace(czech(threshold=3), beyond=BeyondChoice("perturbed")))
    for names in (["A", "B"], ["C", "D"], ["E", "F"]):
        client.ask(*names)
    client.server.table.freeze("olga")
    came = found(ours(client))
    # What two answers prove is proved of the perturbed table.
    assert {name: tried for name, (_, tried) in came.items()} == {
        name: tried for name, (_, tried) in told("frozen").items()
    }
    assert not sum(got for name, (got, _) in came.items() if name != "differencing")


def test_plain_cell_keys_give_their_noise_away_and_careless_ones_their_counts() -> None:
    table = open_table("example:czech-autoworkers").table
    plain, careless = found(cell_keys(table)), found(cell_keys(table, careless=True))
    assert plain == told("cell keys") and careless == told("careless")
    assert plain["averaging"][0] and careless["tracker"][0] and careless["refusals"][1]


def test_counts_that_two_answers_prove_are_found() -> None:
    """Row sums 1 and 5, column sums 1 and 5 of one person each in a corner."""
    loot = Loot()
    loot.add(("A", "B"), {("a", "x"): 2, ("b", "x"): 0})
    loot.add(("B", "C"), {("x", "p"): 2, ("x", "q"): 0})
    differencing, averaging = from_answers(loot)
    assert differencing.succeeded == 1 and averaging.succeeded == 0
    loot.add(("A",), {("a",): 3, ("b",): 0})
    assert from_answers(loot)[1].succeeded == 1
