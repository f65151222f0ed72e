"""Texts for users: made from every mechanism, true of its release, editable by the house."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tabprotect.cli.main import main
from tabprotect.engine.bundle import public
from tabprotect.engine.bundle.reader_text import why_parts
from tabprotect.engine.bundle.user_texts import user_texts
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.plain_values.metadata import TEXTS
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.groupings.grouping import true_table
from tests.engine.bundle.reader_page.test_magnitude_page import released
from tests.engine.bundle.reader_page.test_page import METHODS, protected_by, release_of

RELEASES = (*range(METHODS), METHODS + 2, METHODS + 8)


def adds_up(release: Release) -> bool:
    """Every published total against the published inner counts, by addition."""
    inner = release.table
    return all(
        (true_table(inner, one.table.domain, ()).counts == one.table.counts).all()
        for one in release.tables
        if set(one.table.domain.names) <= set(inner.domain.names)
    )


@pytest.mark.parametrize("number", RELEASES)
def test_every_method_has_its_texts_in_both_languages(number: int) -> None:
    release = release_of(number)
    texts = user_texts(release)
    for name in TEXTS:
        english, german = texts["en"][name], texts["de"][name]
        assert english and german and english != german
        assert "{" not in english + german
    why = why_parts(release)
    hidden = any(one.suppressed is not None for one in release.tables)
    # What is said of parts is so in this release.
    if "In this release they do" in why:
        assert adds_up(release) and not hidden
    assert ("not 0" in why) == hidden
    assert why in texts["en"]["methodology"] and why == texts["en"]["parts"]
    assert why in public.files(release)["README.md"].decode().replace("\n", " ")


def test_the_largest_change_is_that_of_the_mechanism() -> None:
    rounded = protected_by("random_rounding", 2, base=5)
    said = user_texts(rounded)
    assert "at most 4 " in said["en"]["footnote"] and "höchstens 4 " in said["de"]["footnote"]
    assert "differ by 8 or less" in said["en"]["press"]
    assert "changed by itself" in said["en"]["parts"]
    exact = user_texts(protected_by("coarsening", 3, groupings="w:v0=c0>a,c1>a,c2>b,c3>b"))
    assert exact["en"]["footnote"].startswith("No number that is published was changed")
    assert "differ by" not in exact["en"]["press"]


@pytest.mark.parametrize("method", ["suppression", "multiplicative_noise", "cell_key"])
def test_sums_have_texts_too(method: str) -> None:
    release, _ = released(method)
    said = user_texts(release)["en"]
    assert methods("magnitudes")[method].promise in said["methodology"]
    assert ("changed by itself" in said["parts"]) == (method == "cell_key")


def test_a_house_writes_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    public.write(release_of(2), tmp_path / "r.zip")
    policy = tmp_path / "policy.toml"
    policy.write_text('[texts]\nfootnote = "Office: {text}"\npress_de = "Nur deutsch."\n', encoding="utf-8")
    monkeypatch.setenv("TABPROTECT_POLICY", str(policy))
    out = tmp_path / "texts.md"
    asked = ["report", str(tmp_path / "r.zip"), "--texts", "--edition", "public", "--out", str(out), "--json"]
    assert main(asked) == 0
    texts = json.loads(capsys.readouterr().out)["texts"]
    made = user_texts(release_of(2))
    assert texts["en"]["footnote"] == "Office: " + made["en"]["footnote"]
    assert texts["de"]["press"] == "Nur deutsch." and texts["en"]["press"] == made["en"]["press"]
    written = out.read_text("utf-8")
    assert all(text in written for code in texts for text in texts[code].values())
    assert "## Why do parts not add up?" in written
    for wrong in (["--edition", "staff"], ["--edition", "public", "--quality"]):
        assert main(["report", str(tmp_path / "r.zip"), "--texts", *wrong, "--out", str(out)]) == 2
    with pytest.raises(ParameterError, match="must be one of"):
        AgencyPolicy.of({"texts": {"footnotes": "x"}})
