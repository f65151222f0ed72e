"""The dossier: it says what it is, and original, seed and release must belong together."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.bundle import archive, public
from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.bundle.staff.audit_trail import chained
from tabprotect.engine.errors import BundleError, Interrupted
from tabprotect.engine.progress import Cancellable
from tabprotect.engine.protection.problem import Protected


def forged(protected: Protected, path: Path, name: str, data: bytes) -> None:
    files = confidential.files(protected)
    del files[archive.MANIFEST]
    files[f"CONFIDENTIAL/{name}"] = data
    path.write_bytes(archive.pack(archive.sealed(files, confidential.KIND)))


def test_every_file_and_the_text_say_confidential(protected: Protected) -> None:
    files = confidential.files(protected)
    assert all("CONFIDENTIAL" in name for name in files if name != archive.MANIFEST)
    assert b"CONFIDENTIAL" in files[archive.MANIFEST]
    for name in ("README.md", "risk_report.md"):
        assert files[f"CONFIDENTIAL/{name}"].startswith(b"# CONFIDENTIAL")
    assert "CONFIDENTIAL" in confidential.suggested_name(Path("a/release.zip")).name


def test_reading_gives_everything_again(protected: Protected, tmp_path: Path) -> None:
    path = tmp_path / "dossier.zip"
    confidential.write(protected, path, trail=chained([{"label": "opened"}]), recipe="recipe = 1\n")
    again = confidential.read(path)
    record = again.record
    assert record.problem.table == protected.record.problem.table
    assert record.problem.at_risk == protected.record.problem.at_risk
    assert record.seed == protected.record.seed and record.seed_given
    assert np.array_equal(record.steps.coins, protected.record.steps.coins)
    assert np.array_equal(record.steps.effective, protected.record.steps.effective)
    assert again.release.table == protected.release.table
    with zipfile.ZipFile(path) as opened:
        # Nothing was published: no page for readers is made.
        inside = public.to_bytes(protected.release, page=False)
        assert opened.read("CONFIDENTIAL/release.zip") == inside
        (line,) = json.loads(opened.read("CONFIDENTIAL/audit_trail.json"))
        assert line.pop("chain") and line == {"number": 1, "label": "opened"}


def test_the_coins_lead_from_the_original_to_the_release(protected: Protected) -> None:
    """The coins file alone, with the public cycles, reproduces the published table."""
    files = confidential.files(protected)
    rows = list(csv.DictReader(io.StringIO(files["CONFIDENTIAL/coins.csv"].decode())))
    moves = protected.release.mechanism.parameters["cycles"]
    table = protected.record.problem.table.counts.copy()
    for row in rows:
        table += int(row["effective"]) * moves.array(int(row["cycle"]) - 1).astype(np.int64)  # type: ignore[attr-defined]
        assert row["blocked"] == "0" or row["effective"] == "0"
    assert np.array_equal(table, protected.release.table.counts)
    assert len(rows) == protected.record.steps.coins.size


def test_the_report_counts_what_happened(protected: Protected) -> None:
    report = json.loads(confidential.files(protected)["CONFIDENTIAL/risk_report.json"])
    original = protected.record.problem.table.counts
    published = protected.release.table.counts
    at_risk = (original >= 1) & (original <= 2)
    assert len(report["at_risk_cells"]) == at_risk.sum() == report["result"]["at_risk_cells"]
    for cell in report["at_risk_cells"]:
        index = tuple(cell["index"])
        assert cell["original"] == original[index] and cell["published"] == published[index]
    share = (original == published)[at_risk].mean()
    assert report["result"]["unchanged_share"] == pytest.approx(share)
    assert report["result"]["margins_preserved"] is True


def test_what_does_not_belong_together_is_refused(protected: Protected, tmp_path: Path) -> None:
    path = tmp_path / "dossier.zip"
    files = confidential.files(protected)
    original = files["CONFIDENTIAL/original.csv"]
    other = original.replace(b"north,10-19,1\n", b"north,10-19,5\n")
    assert other != original
    forged(protected, path, "original.csv", other)
    with pytest.raises(BundleError, match="does not lead from the original"):
        confidential.read(path)
    record = json.loads(files["CONFIDENTIAL/record.json"])
    forged(protected, path, "record.json", json.dumps(record | {"seed": "12"}).encode())
    with pytest.raises(BundleError, match="does not lead from the original"):
        confidential.read(path)
    forged(protected, path, "record.json", json.dumps(record | {"at_risk": 3}).encode())
    with pytest.raises(BundleError, match=r"record\.json"):
        confidential.read(path)
    coins = files["CONFIDENTIAL/coins.csv"]
    forged(protected, path, "coins.csv", coins.replace(b"1,1,", b"1,1,1", 1))
    with pytest.raises(BundleError, match=r"coins\.csv: this is not what the seed leads to"):
        confidential.read(path)


def test_a_release_is_no_dossier_and_the_other_way_round(protected: Protected, tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    public.write(protected.release, path)
    with pytest.raises(BundleError):
        confidential.read(path)
    confidential.write(protected, path)
    with pytest.raises(BundleError):
        public.read(path)


def test_reading_can_be_cancelled(protected: Protected, tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    confidential.write(protected, path)
    progress = Cancellable()
    progress.cancel()
    with pytest.raises(Interrupted):
        confidential.read(path, progress=progress)
