"""``service.toml``: everything fixed there, and nothing that means nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabprotect.engine.errors import InputError
from tabprotect.server.service import read

WHOLE = """
[service]
title = "Survey"
languages = ["en", "cs"]
[table]
source = "secret/place.csv"
id = "survey"
disallowed = ["region"]
[criterion]
name = "width"
threshold = 5
cells = "all"
[rule]
name = "by_demand"
requests = 4
[beyond]
answer = "perturbed"
alpha = 0.3
[limits]
cells = 500
quantum = 0
[access]
anonymous = false
signing = "key.pem"
[groups.partners]
requests = 1000
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "service.toml"
    path.write_text(text)
    return path


def test_what_is_said_is_fixed(tmp_path: Path) -> None:
    service = read(written(tmp_path, WHOLE))
    assert service.table.source == str(tmp_path / "secret" / "place.csv")
    assert (service.criterion.cells, service.rule.parameters["requests"]) == ("all", 4)
    # A group has the limits of all but what it says itself.
    partners = service.groups["partners"]
    assert (partners.cells, partners.requests, partners.quantum) == (500, 1000, 0.0)
    # Where files are is no part of what is told, nor of the fingerprint.
    assert "secret/" not in str(service.settings) and "server.secret" not in str(service.settings)
    assert "key.pem" not in str(service.settings)
    elsewhere = tmp_path / "other"
    elsewhere.mkdir()
    assert read(written(elsewhere, WHOLE)).fingerprint == service.fingerprint
    changed = read(written(tmp_path, WHOLE.replace("threshold = 5", "threshold = 6")))
    assert changed.fingerprint != service.fingerprint


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "names no source"),
        ("[table", "not a valid service"),
        ("[table]\nsource = 3", "table.source: must be text, is 3"),
        ('[table]\nsource = "a"\npath = "b"', "table.path: means nothing"),
        ('[nonsense]\na = 1\n[table]\nsource = "a"', "nonsense: means nothing"),
        ("table = 3", "table: must be named values"),
        ('[table]\nsource = "a"\n[criterion]\nname = "guess"', "guess"),
        (
            '[table]\nsource = "a"\n[criterion]\ncells = "some"',
            "criterion.cells: must be one of at_risk, all",
        ),
        ('[table]\nsource = "a"\n[rule]\nname = "by_demand"\nrequests = 0', "requests"),
        ('[table]\nsource = "a"\n[rule]\nname = "myopic"\nhaste = 1', "haste"),
        ('[table]\nsource = "a"\n[limits]\ncells = 0', "limits.cells: must be at least 1"),
        ('[table]\nsource = "a"\n[limits]\ncells = true', "limits.cells: must be a whole number, is True"),
        ('[table]\nsource = "a"\n[limits]\nquantum = -1', "limits.quantum: must be at least 0"),
        ('[table]\nsource = "a"\ndisallowed = "b"', "table.disallowed: must be a list"),
    ],
)
def test_what_means_nothing_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InputError) as error:
        read(path)
    assert words in str(error.value) and str(path) in str(error.value)
    with pytest.raises(InputError, match="no such file"):
        read(tmp_path / "nowhere.toml")
