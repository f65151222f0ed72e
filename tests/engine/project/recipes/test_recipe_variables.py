"""Variables of recipes: text stays text, numbers where numbers belong, nothing left unset."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabprotect.cli.main import main
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.project.history import History
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.recipes import replay

RECIPE = """recipe = 1
[variables]
alpha = 0.3
year = "2024"
[[step]]
do = "open_table"
source = "${source}"
[[step]]
do = "set_title"
title = "${year}"
[[step]]
do = "set_parameters"
alpha = "${alpha}"
[[step]]
do = "set_at_risk"
rule = "1..${high}"
"""
EXAMPLE = "example:duncan-roehrig-4x4"


def ran(**settings: str) -> Project:
    history = History()
    for order in replay.from_text(RECIPE, settings):
        history, _ = history.do(order)
    return history.project


def test_what_is_set_and_what_the_recipe_says() -> None:
    project = ran(source=EXAMPLE, high="3")
    assert (project.title, project.values["alpha"], str(project.at_risk)) == ("2024", 0.3, "1..3")
    project = ran(source=EXAMPLE, high="3", alpha="0.25", year="007")
    assert (project.title, project.values["alpha"]) == ("007", 0.25)


def test_everything_wrong_is_named_at_once() -> None:
    with pytest.raises(ParameterError) as error:
        replay.from_text(RECIPE, {"hihg": "3"})
    assert set(error.value.fields) == {"source", "high", "hihg"}
    with pytest.raises(InputError, match="text or a number"):
        replay.from_text(RECIPE.replace("0.3", "[1]"))


def test_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_text(RECIPE + '[[step]]\ndo = "protect"\naccept = "a test"\n')
    words = ["run", str(path), "--out", str(tmp_path / "out"), "--set", "high=2"]
    assert main(words) == 4
    assert main([*words, "--set", f"source={EXAMPLE}"]) == 0
    assert (tmp_path / "out" / "release.zip").is_file()
    assert main([*words, "--set", "high=3"]) == 2
