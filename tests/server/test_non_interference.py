"""What the server does not know how to tell: the original beyond what is released."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from table_server import QUICK, Serve

from tabprotect.engine.formats.table_reading import read_table
from tabprotect.server.guard.limiter import Limiter
from tabprotect.server.service import Access, CriterionChoice, RuleChoice, Service, TableSource

QUESTIONS = ["A", "B", "C", "A,B", "A,B,C", "B,C", "A,C", "A,B,C", "A,B"]


def write(path: Path, counts: np.ndarray) -> str:
    rows = [f"a{i},b{j},c{k},{counts[i, j, k]}" for i, j, k in np.ndindex(counts.shape)]
    path.write_text("\n".join(["A,B,C,count", *rows]) + "\n")
    assert read_table(path).table.total == counts.sum()
    return str(path)


def transcript(serve: Serve, source: str, rule: str) -> list[tuple[int, list[tuple[str, str]], bytes]]:
    """Everything that is sent, byte by byte."""
    parameters = {"delta": 0.3} if rule == "simulatable" else {}
    service = Service(
        table=TableSource(source=source),
        criterion=CriterionChoice(threshold=6),
        rule=RuleChoice(rule, parameters),
        limits=QUICK,
        access=Access(prices=False),
    )
    client = serve(service)
    client.server.limiter = Limiter(clock=lambda: 0.0)
    seen = []
    addresses = [
        f"/tables/table/data?variables={q}&format={f}" for q in QUESTIONS for f in ("csv", "json-stat2")
    ]
    for question in QUESTIONS:
        response = client.ask(*question.split(","))
        seen.append((response.status_code, response.headers.multi_items(), response.content))
    for address in ["/config", "/tables/table/metadata", *addresses]:
        response = client.get(address)
        seen.append((response.status_code, response.headers.multi_items(), response.content))
    for number in range(1, len(addresses)):
        response = client.get(f"/queries/{number}")
        seen.append((response.status_code, response.headers.multi_items(), response.content))
    frontier = client.get("/tables/table/frontier")
    seen.append((frontier.status_code, frontier.headers.multi_items(), frontier.content))
    for mark in sorted({r[1] for s in seen for r in s[1] if r[0] == "link"}):
        bundle = client.get(mark.partition(">")[0].lstrip("<"))
        seen.append((bundle.status_code, bundle.headers.multi_items(), bundle.content))
    return seen


@pytest.fixture
def pair(tmp_path: Path) -> tuple[str, str]:
    """Two originals with the same two-way margins, with their small counts at other places."""
    one = np.array([[[17, 0], [4, 8]], [[12, 5], [10, 2]]])
    other = np.array([[[13, 4], [8, 4]], [[16, 1], [6, 6]]])
    assert all(np.array_equal(one.sum(axis=axis), other.sum(axis=axis)) for axis in range(3))
    return write(tmp_path / "one.csv", one), write(tmp_path / "other.csv", other)


def test_under_the_simulatable_rule_transcripts_are_equal(serve: Serve, pair: tuple[str, str]) -> None:
    one, other = (transcript(serve, source, "simulatable") for source in pair)
    assert one == other
    statuses = [status for status, _, _ in one]
    # Something is released and something is not, else nothing was shown.
    assert 200 in statuses[2:] and 403 in statuses


def test_under_a_rule_that_looks_at_the_original_they_are_not(serve: Serve, pair: tuple[str, str]) -> None:
    one, other = (transcript(serve, source, "myopic") for source in pair)
    assert one != other


def test_over_all_cells_bundles_state_no_rule_of_the_original(serve: Serve, tmp_path: Path) -> None:
    counts = np.array([[[9, 14], [11, 8]], [[12, 7], [6, 13]]])
    source = write(tmp_path / "t.csv", counts)
    service = Service(
        table=TableSource(source=source), criterion=CriterionChoice(threshold=5, cells="all"), limits=QUICK
    )
    served = serve(service).server.table
    assert served.state.releases.evidence.cells.size == 8
    # The smallest width over every cell: what is released and asked decides it alone.
    assert replace(service, title="x").fingerprint != service.fingerprint
    decided = [served.ask("u", q).answer.kind for q in (0b011, 0b110, 0b101, 0b111)]
    assert decided[0] == "table" and decided[-1] in ("refusal", "projection")
