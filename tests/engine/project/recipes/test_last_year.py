"""A recipe on next year's file: what differs is told, categories are decided on."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.errors import InputError
from tabprotect.engine.project import recipe_text
from tabprotect.engine.project.history import History
from tabprotect.engine.project.recipes.last_year import since_last_year
from tabprotect.engine.project.recipes.recipe_mapping import mapped_categories, remember_mapping
from tabprotect.engine.project.recipes.replay import last_and_now, prepared_recipe, run_file
from tabprotect.engine.project.verbs.category_verbs import merge_categories
from tabprotect.engine.project.verbs.level_verbs import group_categories
from tabprotect.engine.project.verbs.release_verbs import protect, set_method, set_parameters
from tabprotect.engine.project.verbs.table_verbs import open_table, set_title, tabulate
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.unlisted_codes import UnlistedError
from tabprotect.engine.tables.table import Table

YEAR = "region,sex,count\n" + "".join(
    f"{r},{s},{n}\n" for n, (r, s) in enumerate(((r, s) for r in ("Nord", "Sud", "West") for s in "fm"), 20)
)


@pytest.fixture
def yearly(tmp_path: Path) -> Path:
    """A recipe that was saved from last year's work."""
    (tmp_path / "people 2023.csv").write_text(YEAR)
    history = History()
    for order in (
        open_table(source=str(tmp_path / "people 2023.csv")),
        set_title(title="People"),
        set_method(method="random_rounding"),
        set_parameters(base=5),
        protect(),
    ):
        history, _ = history.do(order)
    path = tmp_path / "recipe_text.toml"
    path.write_text(recipe_text.next_year_text(history.trail, history.project))
    return path


def test_the_recipe_names_no_path_and_no_seed(yearly: Path) -> None:
    text = yearly.read_text()
    assert str(yearly.parent) not in text and "seed" not in text and "People" not in text
    said = tomllib.loads(text)
    assert said["variables"] == {"source": "people 2023.csv"}
    assert said["step"][0]["source"] == "${source}"
    assert said["expects"] == {"region": ["Nord", "Sud", "West"], "sex": ["f", "m"]}


def test_it_runs_on_new_data_and_tells_what_differs(yearly: Path) -> None:
    new = yearly.parent / "people 2024.csv"
    new.write_text(YEAR.replace("Nord,f,20", "Nord,f,900").replace("Sud,m,23", "Sud,m,0"))
    settings = {"source": new.name}
    history, written = run_file(yearly, yearly.parent / "out", settings=settings)
    assert {path.suffix for path in written} == {".zip"}
    since = last_and_now(yearly, settings, history)
    assert since is not None
    assert since.total == (135, 135 + 880 - 23) and since.vanished == 1
    assert since.jumps[0].cell == ("Nord", "f") and since.jumps[0].after == 900
    assert "(Nord, f): 20 -> 900" in "\n".join(since.lines())
    # The same file again, and none to compare with: nothing is said.
    same, _ = run_file(yearly, yearly.parent / "same")
    assert last_and_now(yearly, {}, same) is None


def test_other_categories_are_decided_on(yearly: Path) -> None:
    new = yearly.parent / "n.csv"
    new.write_text(YEAR.replace("Nord", "North") + "East,f,3\nEast,m,4\n")
    out, settings = yearly.parent / "out", {"source": "n.csv"}
    with pytest.raises(InputError, match="2 categories are new, 1 is missing") as caught:
        run_file(yearly, out, settings=settings)
    assert '--rename "region:North=Nord"' in caught.value.hint
    assert "perhaps 'Nord' by another name" in caught.value.detail
    assert not list(out.glob("*.zip"))
    renames = {("region", "North"): "Nord"}
    with pytest.raises(InputError, match="1 category is new"):
        run_file(yearly, out, settings=settings, renames=renames)
    history, _ = run_file(yearly, out, settings=settings, renames=renames, accept=True)
    assert history.project.original.domain["region"].categories == ("Nord", "Sud", "West", "East")


def test_a_file_of_other_variables_is_refused(yearly: Path) -> None:
    (yearly.parent / "n.csv").write_text("place,count\na,3\nb,4\n")
    with pytest.raises(InputError, match="made for region, sex"):
        run_file(yearly, yearly.parent / "out", settings={"source": "n.csv"})


def test_steps_that_code_the_table_are_part_of_what_is_expected(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(YEAR)
    history, _ = History().do(open_table(source=str(tmp_path / "t.csv")))
    order = merge_categories(variable="region", categories=["Nord", "Sud"], into="Rest")
    history, _ = history.do(order)
    history, _ = history.do(set_method(method="random_rounding"))
    path = tmp_path / "r.toml"
    path.write_text(recipe_text.next_year_text(history.trail, history.project))
    done, _ = run_file(path, tmp_path / "out")
    assert done.project.original.domain["region"].categories == ("Rest", "West")


def test_years_are_compared_on_what_both_have() -> None:
    before = Table.dense(Domain.of({"a": ["x", "y"], "b": ["u", "v"]}), [[1, 0], [100, 7]])
    after = Table.dense(Domain.of({"b": ["v", "u"], "a": ["y", "x", "z"]}), [[7, 3, 1], [300, 0, 2]])
    found = since_last_year(before, after)
    assert (found.appeared, found.vanished, found.jumped) == (1, 1, 1)
    assert found.jumps[0].cell == ("y", "u")
    assert found.jumps[0].deviations == pytest.approx(200 / np.sqrt(400))
    assert [c.new for c in found.categories] == [("z",)]


RECORDS = "id,area,sex\n" + "".join(
    f"{n},{area},{sex}\n"
    for n, (area, sex) in enumerate((a, s) for a in ("11", "12", "21", "22") * 9 for s in "fm")
)
LIST = "area,district\n11,north\n12,north\n13,north\n21,south\n22,south\n23,south\n"


@pytest.fixture
def counting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A recipe that counts records by a code list with codes that nobody uses."""
    monkeypatch.setenv("TABPROTECT_HOME", str(tmp_path / "home"))
    (tmp_path / "p 2023.csv").write_text(RECORDS)
    (tmp_path / "area.csv").write_text(LIST)
    files = {"code list": str(tmp_path / "area.csv")}
    history = History()
    for order in (
        tabulate(source=str(tmp_path / "p 2023.csv"), by=["area", "sex"], draw_keys=True),
        set_title(title="Persons 2023"),
        group_categories(variable="area", files=files),
        set_method(method="random_rounding"),
        set_parameters(base=5),
        protect(draft=True),
        set_method(method="cell_key"),
        set_parameters(D=4),
        set_parameters(V=2.5),
        protect(accept_weak=True),
    ):
        history, _ = history.do(order)
    path = tmp_path / "recipe.toml"
    path.write_text(recipe_text.next_year_text(history.trail, history.project))
    return path


def test_no_set_up_is_replayed_that_was_left(counting: Path) -> None:
    said = tomllib.loads(counting.read_text())
    assert [step["do"] for step in said["step"]] == [
        "tabulate", "group_categories", "set_method", "set_parameters", "protect",
    ]  # fmt: skip
    assert said["step"][3] == {"do": "set_parameters", "D": 4, "V": 2.5}
    assert "draft" not in counting.read_text()


def test_the_same_records_give_the_same_keys(counting: Path) -> None:
    one, two = (prepared_recipe(counting, {}, accept=True)[0] for _ in range(2))
    keys = [history.project.record_keys for history in (one, two)]
    assert keys[0] is not None and keys[0] == keys[1]
    # Other records, other keys; and so in another house.
    new = counting.parent / "p 2024.csv"
    new.write_text(RECORDS + "900,11,f\n")
    other = prepared_recipe(counting, {"source": new.name}, accept=True)[0].project.record_keys
    assert other is not None
    assert (other.counts != keys[0].counts).all()


def test_codes_that_the_list_lacks_are_mapped_and_remembered(counting: Path) -> None:
    new = counting.parent / "p 2024.csv"
    new.write_text(RECORDS + "900,14,f\n901,99,m\n902,31,m\n")
    settings = {"source": new.name}
    with pytest.raises(UnlistedError) as caught:
        prepared_recipe(counting, settings)
    assert caught.value.variable == "area" and caught.value.codes == ("14", "31", "99")
    mapping = {("area", "14"): "11", ("area", "99"): "", ("area", "31"): "31"}
    remember_mapping(counting, {("area", "14"): "11"})
    remember_mapping(counting, {("area", "99"): "", ("area", "31"): "31"})
    assert mapped_categories(counting) == mapping
    history, _ = prepared_recipe(counting, settings)
    table = history.project.original
    assert table.total == 72 + 2 and table.domain["area"].categories == ("11", "12", "21", "22", "31")
    assert table.domain["area"].coarser[0].groups == ("north", "north", "south", "south", "31")
    # What was said stays, in its place, in the recipe of the year after.
    again = tomllib.loads(recipe_text.next_year_text(history.trail, history.project))
    assert again["mapping"] == {"area": {"14": "11", "99": "", "31": "31"}}
