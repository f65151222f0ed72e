"""One command line and one report in German; JSON stays as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabprotect.cli.main import main
from tabprotect.languages.translation import ENGLISH, set_language


@pytest.fixture(autouse=True)
def english_again(monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.delenv("TABPROTECT_LANGUAGE", raising=False)
    yield
    set_language(ENGLISH)


def test_help_errors_and_results_in_german(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help", "--language", "de"]) == 0
    assert "Fallzahlen und von Summen schützen" in capsys.readouterr().out
    assert main(["--language=de", "verify", "nowhere.zip"]) != 0
    said = capsys.readouterr().err
    assert said.startswith("Fehler: ") and "diese Datei gibt es nicht" in said
    assert main(["verify", "--language", "xx"]) == 2
    assert "there is no language" in capsys.readouterr().err


def test_json_is_the_same_in_every_language(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    main(["describe", "random_rounding", "--json"])
    english = capsys.readouterr().out
    monkeypatch.setenv("TABPROTECT_LANGUAGE", "de")
    main(["describe", "random_rounding", "--json"])
    assert capsys.readouterr().out == english


def test_a_report_in_german(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    release, page = str(tmp_path / "r.zip"), tmp_path / "r.html"
    assert main(["protect", "example:duncan-roehrig-4x4", "--seed", "1", "--accept-weak",
                 "--title", "Men, women", "--out", release]) == 0  # fmt: skip
    assert main(["report", release, "--edition", "public", "--out", str(page), "--language", "de"]) == 0
    html = page.read_text("utf-8")
    assert '<html lang="de">' in html
    assert "Was getan wurde" in html and "What was done" not in html
    assert "Zyklische Überlagerung" in html and "<bdi>Men, women</bdi>" in html
    assert "Jede Datei hat den SHA-256" in html
