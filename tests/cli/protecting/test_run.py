"""``run``: a recipe from the command line, with codes that its list lacks."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Command

RECIPE = """recipe = 1

[variables]
source = "p24.csv"

[[step]]
do = "tabulate"
source = "${source}"
by = ["region", "sex"]
code_lists = { region = "list.csv" }

[[step]]
do = "set_method"
method = "random_rounding"

[[step]]
do = "protect"
"""


def test_what_codes_are_is_said_with_map(run: Command, tmp_path: Path) -> None:
    house = tmp_path / "house"
    house.mkdir()
    (house / "list.csv").write_text("region,part\nn1,north\nn2,north\ns1,south\n")
    people = [f"{r},{s}" for r in ("n1", "n2", "s1") for s in "fm" for _ in range(40)]
    (house / "p24.csv").write_text("region,sex\n" + "\n".join(people) + "\n")
    (house / "p25.csv").write_text("region,sex\n" + "\n".join([*people, "w9,f"]) + "\n")
    recipe = house / "recipe.toml"
    recipe.write_text(RECIPE)
    again = ("run", recipe, "--set", "source=p25.csv")
    refused = run(*again, "--out", tmp_path / "a")
    assert refused.code == 3
    assert '--map "region:w9=s1"' in refused.err
    data = run(*again, "--map", "region:w9=s1", "--out", tmp_path / "b", "--json").json
    # The list stands beside the recipe, not where the command was given.
    assert data["since_last_year"]["total"] == [240, 241]
    data = run(*again, "--map", "region:w9=", "--out", tmp_path / "c", "--json").json
    assert data["since_last_year"]["total"] == [240, 240]
