"""The dossier of magnitudes: everything is in it, and its release must be one of its original."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from magnitude_cases import drawn, table_of

from tabprotect.engine.bundle import archive, public
from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.bundle.staff.audit_trail import chained
from tabprotect.engine.chained_log import Head
from tabprotect.engine.disclosure.magnitude_verdict import protect_magnitudes
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.errors import BundleError
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.protection.problem import MagnitudeProblem, Problem, Protected
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.sensitivity.magnitude_rules import rules_of

TABLE = table_of(drawn(3), (4, 4))


def protected(method: str) -> Protected:
    way = methods("magnitudes")[method]
    problem = MagnitudeProblem(table=TABLE, rules=rules_of(["p=10"]), seed=7)
    return protect_magnitudes(
        way, Problem.of_magnitudes(problem, "Firms"), way.resolve(TABLE.units.domain, {}), AgencyPolicy()
    )


def dossier(done: Protected, table: MagnitudeTable = TABLE) -> bytes:
    step = {"time": "2026-01-01T00:00:00Z", "label": "Protect"}
    magnitudes = done.record.problem.magnitudes
    assert magnitudes is not None
    problem = replace(done.record.problem, magnitudes=replace(magnitudes, table=table))
    done = replace(done, record=replace(done.record, problem=problem))
    data = public.to_bytes(done.release, page=False)
    kept = confidential.contents(done, release=data, trail=chained([step]), recipe="recipe = 1\n")
    return archive.pack(confidential.sealed(kept, {"lines": 3, "head": "ab"}))


@pytest.mark.parametrize("method", ["suppression", "multiplicative_noise", "cell_key"])
def test_all_of_it_is_kept_and_read_again(method: str) -> None:
    done = protected(method)
    data = dossier(done)
    assert confidential.is_dossier(data)
    assert confidential.register_head(data) == Head(3, "ab")
    found = confidential.open_dossier(data)
    run, own = found.protected.record, done.record
    assert run.problem.magnitudes is not None and found.steps[0].label == "Protect"
    assert run.problem.magnitudes.table.cells.value.tolist() == TABLE.cells.value.tolist()
    assert [rule.written for rule in run.problem.magnitudes.rules] == ["p=10"]
    assert run.primary.tolist() == own.primary.tolist() and run.findings == own.findings
    assert found.protected.verdict.staff_sentence == done.verdict.staff_sentence
    assert found.protected.verdict.passed is done.verdict.passed and run.parameters == own.parameters
    files = archive.unpack(data, allowed=lambda _: True)
    report = json.loads(files["CONFIDENTIAL/risk_report.json"])
    hidden = done.release.magnitude_table.hidden
    assert len(report["cells"]) == hidden.sum()
    for one in report["cells"]:
        cell = TABLE.number(one["index"])
        assert hidden[cell] and one["original"] == TABLE.cells.value[cell] and one["published"] is None
        assert one["unsafe"] == done.record.primary[cell]
    text = files["CONFIDENTIAL/risk_report.md"].decode()
    assert text.count("| tells too much |") == done.record.primary.sum()
    assert {"README.md", "audit_trail.json", "recipe.toml", "record.json", "original.parquet"} <= {
        name.removeprefix("CONFIDENTIAL/") for name in files
    }


def test_a_release_of_another_original_is_refused() -> None:
    done = protected("suppression")
    with pytest.raises(BundleError, match="not one of the original"):
        confidential.open_dossier(dossier(done, table_of(drawn(4), (4, 4))))
    # Twice as much everywhere still adds up.
    table = done.release.magnitude_table
    changed = replace(table, value=table.value * 2)
    forged = replace(done, release=replace(done.release, magnitudes=(changed,)))
    with pytest.raises(BundleError, match="not one of the original"):
        confidential.open_dossier(dossier(forged))
