"""Files of every version that was given out are opened: bundles, sets, dossiers, projects and registers."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tabprotect.version import __version__
from tests.cli.conftest import Command

FORMS = Path(__file__).parents[1] / "reference" / "forms"
VERSIONS = sorted(path.name for path in FORMS.iterdir() if (path / "counts.csv").is_file())


def test_this_version_has_its_files() -> None:
    """Where the version was raised: ``python tests/reference/forms/make.py`` makes them, once."""
    assert __version__ in VERSIONS


@pytest.fixture(params=VERSIONS)
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "files"
    shutil.copytree(FORMS / request.param, folder)
    for path in (folder / "house").iterdir():
        path.chmod(0o600)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("TABPROTECT_HOME", str(folder / "house"))
    monkeypatch.setenv("TABPROTECT_DOSSIER_KEY", str(folder / "secret.txt"))
    return folder


def test_what_was_published_is_read(run: Command, place: Path) -> None:
    for name in ("rounded.zip", "cycles.zip", "sums.zip", "set"):
        found = run("verify", name, "--quick")
        assert found.code in (0, 7), found.err
        if name != "set":
            assert run("export", name, "--out", "out.csv").code == 0
    found = run("infer", "rounded.zip", "--json").json
    assert found["way"] == "exact" and len(found["cells"]) == 6


def test_dossiers_lead_from_their_originals_to_their_releases(run: Command, place: Path) -> None:
    for name in ("rounded", "cycles", "sums"):
        found = run("verify", f"{name}-dossier.zip", "--quick", "--json")
        assert found.code in (0, 7), found.err
        assert found.json["dossier"] and found.json["trail_lines"] > 2


def test_projects_and_registers_are_opened(run: Command, place: Path) -> None:
    assert run("convert", "project.tabprotect", "--out", "out.csv").code == 0
    assert sorted(Path("out.csv").read_text().split()) == sorted(Path("counts.csv").read_text().split())
    listed = run("register", "list", "--json").json
    assert len(listed["releases"]) == 3 and not listed["damaged"]
    assert run("register", "check", "rounded-dossier.zip", "--json").json["published_before"]
