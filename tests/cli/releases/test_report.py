"""``report`` on the command line."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Command


def test_both_editions(run: Command, tmp_path: Path) -> None:
    release, dossier = tmp_path / "r.zip", tmp_path / "d.zip"
    options = ("--title", "A title", "--out", release, "--dossier", dossier, "--seed", 5, "--json")
    protected = run("protect", "example:duncan-roehrig-4x4", *options).json
    staff, public = tmp_path / "s.html", tmp_path / "p.html"
    found = run("report", dossier, "--edition", "staff", "--out", staff, "--json").json
    assert found["confidential"] is True and found["title"] == "A title"
    assert found["fingerprint"] == protected["fingerprint"]
    # Judged again: the same numbers as before.
    judged = protected["verdict"]
    assert (
        f"would know {judged['known']} of {judged['staff']['at_risk_cells']} small counts"
        in found["verdict"]["sentence"]
    )
    assert protected["verdict"]["staff"]["at_risk_cells"] == staff.read_text().count('class="risk')
    found = run("report", release, "--out", public, "--json").json
    assert found["confidential"] is False and found["verdict"]["state"] == "passed"
    assert protected["fingerprint"] in public.read_text()
    assert "CONFIDENTIAL" not in public.read_text()


def test_faults(run: Command, tmp_path: Path) -> None:
    release = tmp_path / "r.zip"
    run("protect", "example:duncan-roehrig-4x4", "--out", release)
    out = tmp_path / "r.html"
    assert run("report", release, "--edition", "staff", "--out", out).code == 3
    assert run("report", release, "--edition", "public", "--out", tmp_path / "r.txt").code == 2
    assert run("report", release, "--edition", "public", "--out", release).code == 2
    assert run("report", tmp_path / "no.zip", "--edition", "public", "--out", out).code == 3
    assert not out.exists()
