"""Grouping, nesting and counting at a level: what a click, a recipe and a saved project leave."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabprotect.engine.errors import InputError
from tabprotect.engine.project.history import History
from tabprotect.engine.project.saving import storage
from tabprotect.engine.project.verbs.category_verbs import merge_categories
from tabprotect.engine.project.verbs.level_verbs import (
    CategoryGroups,
    group_categories,
    label_categories,
    levels_of,
    nest_variables,
    remove_level,
    state_structural_zeros,
    take_level,
)
from tabprotect.engine.project.verbs.query_verbs import set_release_plan, use_release_plan
from tabprotect.engine.project.verbs.table_verbs import tabulate
from tabprotect.engine.tables.variable import Variable

RECORDS = "geo,part,age,k\n" + "".join(
    f"{g},{g[0]},{age},{(7 * age + len(g)) % 100 / 100}\n"
    for g in ("a1", "a2", "b1") for age in range(12) for _ in range(1 + (age + ord(g[1])) % 3)
)  # fmt: skip


@pytest.fixture
def history(tmp_path: Path) -> History:
    path = tmp_path / "r.csv"
    path.write_text(RECORDS)
    order = tabulate(source=str(path), by=["geo", "part", "age"], record_key="k")
    return History().do(order)[0]


def test_groups_by_width_cuts_file_and_hand(history: History, tmp_path: Path) -> None:
    (tmp_path / "geo.hrc").write_text("A\n@a1\n@a2\nB\n@b1\n")
    done = history
    for order in (
        group_categories(variable="age", width=4),
        group_categories(variable="age", cuts=[0, 8], level="wide"),
        group_categories(variable="geo", files={"code list": str(tmp_path / "geo.hrc")}),
        group_categories(variable="part", level="both", groups={"a, b": ["a", "b"]}),
        group_categories(variable="geo", digits={"letter": 1}),
    ):
        done, _ = done.do(order)
    domain = done.project.original.domain
    assert domain["age@band4"].categories == ("0-3", "4-7", "8-11")
    assert domain["age@wide"].categories == ("0-7", "8+")
    assert domain["geo@geo_1"].categories == ("A", "B")
    assert domain["part@both"].categories == ("a, b",)
    assert domain["geo@letter"].categories == ("a", "b")
    assert (done.project.original.counts == history.project.original.counts).all()
    assert done.project.record_keys is not None
    replaced, _ = done.do(group_categories(variable="age", width=6, level="wide"))
    assert replaced.project.original.domain["age@wide"].categories == ("0-5", "6-11")
    gone, _ = replaced.do(remove_level(variable="age", level="wide"))
    assert "age@wide" not in gone.project.original.domain.known_names
    assert [e.label for e in done.trail[-5:]] == [
        "group age in bands of 4", "cut age at 0, 8", "group geo by geo.hrc", "group part as both",
        "group geo by first digits: 1",
    ]  # fmt: skip
    path = tmp_path / "p.tabprotect"
    storage.save(done, path)
    assert storage.load(path).project.original == done.project.original


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "one way"),
        ({"width": 5, "cuts": [1]}, "one way"),
        ({"width": 0}, "width"),
        ({"groups": {"x": ["1"], "y": ["1"]}}, "both"),
        ({"groups": {"x": ["99"]}}, "no category"),
    ],
)
def test_wrong_groups_leave_everything_as_it_was(
    history: History, given: dict[str, object], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        history.do(group_categories(variable="age", **given))  # type: ignore[arg-type]


def test_variables_that_nest_become_one(history: History) -> None:
    done, _ = history.do(nest_variables(variables=["part", "geo"], name="place"))
    table = done.project.original
    assert table.domain.names == ("place", "age")
    assert table.margin(["place@part"]).counts.tolist() == (
        history.project.original.margin(["part"]).counts.tolist()
    )
    # The plan, and the method that takes it, name the level.
    planned, _ = done.do(set_release_plan(margins=[["place@part"]]))
    assert planned.project.plan.margins == (("place@part",),)
    used, _ = planned.do(use_release_plan())
    assert used.project.parameters["margins"] == "place@part"
    merged, _ = planned.do(merge_categories(variable="place", categories=["a1", "a2"], into="a1, a2"))
    assert merged.project.original.domain["place@part"].categories == ("a", "b")


def test_counting_at_a_level_adds_up_counts_and_keys(history: History) -> None:
    grouped, _ = history.do(group_categories(variable="age", width=4))
    wide, _ = grouped.do(group_categories(variable="age", width=8))
    done, _ = wide.do(take_level(variable="age", level="band4"))
    before, after = history.project, done.project
    assert after.original.domain["age"].categories == ("0-3", "4-7", "8-11")
    assert [level.name for level in after.original.domain["age"].levels] == ["band8", "band4"]
    assert (after.original.counts == before.original.counts.reshape(3, 2, 3, 4).sum(axis=3)).all()
    assert before.record_keys is not None and after.record_keys is not None
    keys = before.record_keys.counts.reshape(3, 2, 3, 4).sum(axis=3) % 10**8
    assert (after.record_keys.counts == keys).all()


def test_labels_and_structural_zeros_are_said_saved_and_replayed(history: History, tmp_path: Path) -> None:
    (tmp_path / "geo.csv").write_text("geo,label,half\na1,Upper,A\na2,,A\nb1,Lower,B\n")
    done = history
    for order in (
        group_categories(variable="geo", files={"code list": str(tmp_path / "geo.csv")}),
        label_categories(variable="part", labels={"a": "East"}),
        merge_categories(variable="age", categories=["0", "1"], into="0-1"),
        state_structural_zeros(zeros=[{"geo": ["b1"], "part": ["a"]}]),
    ):
        done, _ = done.do(order)
    domain = done.project.original.domain
    assert domain["geo"].labels == ("Upper", "a2", "Lower")
    assert [level.name for level in domain["geo"].coarser] == ["half"]
    assert domain["part"].labels == ("East", "b")
    assert domain.structural_cells().sum() == domain.shape[2]
    path = tmp_path / "p.tabprotect"
    storage.save(done, path)
    again = storage.load(path).project.original.domain
    assert again == domain and again["geo"].labels == domain["geo"].labels
    with pytest.raises(InputError, match="nobody can be"):
        done.do(state_structural_zeros(zeros=[{"geo": ["a1"], "part": ["a"]}]))
    coarse, _ = done.do(take_level(variable="geo", level="half"))
    assert [zero.words for zero in coarse.project.original.domain.structural] == ["geo B and part a"]


@pytest.mark.parametrize(
    ("categories", "wide", "narrow"),
    [
        # Of codes the fewer digits are wider, of squares the longer sides.
        (("1111", "1112", "1211", "2111"), 1, 2),
        (tuple(f"1kmN{n}E{e}" for n in range(4) for e in range(4)), 4000, 2000),
    ],
    ids=["codes", "squares"],
)
def test_the_widest_level_is_the_first_in_whatever_order_they_are_asked_for(
    categories: tuple[str, ...], wide: int, narrow: int
) -> None:
    variable = Variable("v", categories)
    for digits in ({"wide": wide, "narrow": narrow}, {"narrow": narrow, "wide": wide}):
        found = levels_of(variable, CategoryGroups(variable="v", digits=digits))
        assert [one.name for one in found] == ["wide", "narrow"]
