"""Recipes: what is written runs again, to the byte, and says when it is confidential."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tomli_w

from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.cycles import cycle_files
from tabprotect.engine.cycles.designs import elementary
from tabprotect.engine.errors import InputError, TabprotectError
from tabprotect.engine.project import recipe_text
from tabprotect.engine.project.history import History
from tabprotect.engine.project.recipes import replay
from tabprotect.engine.project.verbs.release_verbs import protect
from tabprotect.engine.tables.domain import Domain


def ran(*steps: tuple[str, dict[str, Any]]) -> History:
    history = History()
    for name, given in steps:
        history, _ = history.apply(name, given)
    return history


OPEN = ("open_table", {"source": "example:duncan-roehrig-4x4"})
EVERYTHING = (
    OPEN,
    ("set_title", {"title": 'a "quoted" title\nwith = [brackets]'}),
    ("set_count", {"index": [0, 1], "count": 3}),
    ("paste_block", {"at": [2, 2], "counts": [[5, 6], [7, 8]]}),
    ("rename_category", {"variable": "v", "category": "v1", "to": "ünï"}),
    ("set_cycles", {"cycles": cycle_files.to_json(elementary(Domain.of_shape((4, 4))))}),
    ("remove_cycle", {"cycle": 0}),
    ("set_parameters", {"alpha": 0.3, "beta": 0.2, "passes": 2}),
    ("set_at_risk", {"rule": "1..3"}),
    ("set_roles", {"sensitive": ["w"], "key_variables": ["v"]}),
    ("set_seed", {"seed": 12}),
    ("set_seed", {"seed": None}),
    ("protect", {}),
)


def test_replaying_gives_the_same_bytes(tmp_path: Path) -> None:
    history = ran(*EVERYTHING)
    history, _ = history.apply("publish", {"release": str(tmp_path / "mine.zip")})
    text = recipe_text.to_text(history.trail, seeds=True)
    (tmp_path / "recipe.toml").write_text(text, encoding="utf-8")
    again, written = replay.run_file(tmp_path / "recipe.toml", tmp_path / "out")
    assert written == [tmp_path / "out" / "mine.zip"]
    assert written[0].read_bytes() == (tmp_path / "mine.zip").read_bytes()
    assert again.project.title == history.project.title


def test_without_its_seed_a_recipe_flips_the_coins_of_its_house(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = recipe_text.to_text(ran(*EVERYTHING).trail, seeds=False)
    assert "seed" not in text.replace("no seed", "") and "CONFIDENTIAL" not in text
    seeds = set()
    for number in range(3):
        if number == 2:
            # Another house: register and key belong together.
            monkeypatch.setenv("TABPROTECT_HOME", str(tmp_path / "another"))
        out = tmp_path / str(number)
        _, written = replay.run(replay.from_text(text), out)
        # It publishes nothing by itself: release and dossier are written at the end.
        assert sorted(p.name for p in out.iterdir()) == sorted(p.name for p in written)
        seeds.add(confidential.read(written[1]).record.seed)
    assert len(seeds) == 2


def test_a_seed_makes_a_recipe_confidential_and_says_so() -> None:
    history = ran(OPEN, ("protect", {"seed": 2**100 + 1}))
    text = recipe_text.to_text(history.trail, seeds=True)
    assert "# CONFIDENTIAL" in text and str(2**100 + 1) in text
    last = replay.from_text(text)[-1]
    assert last.command is protect and last.arguments == {"seed": 2**100 + 1}


def test_the_last_opening_begins_the_recipe() -> None:
    history = ran(OPEN, ("set_count", {"index": [0, 0], "count": 1}), OPEN, ("protect", {"seed": 1}))
    assert [
        order.command.name for order in replay.from_text(recipe_text.to_text(history.trail, seeds=True))
    ] == ["open_table", "protect"]


def test_files_lie_beside_the_recipe_and_written_ones_in_the_folder(tmp_path: Path) -> None:
    beside = tmp_path / "input"
    beside.mkdir()
    (beside / "t.csv").write_text("a,b,count\nx,u,9\nx,v,8\ny,u,7\ny,v,6\n")
    (beside / "r.toml").write_text(
        'recipe = 1\n[[step]]\ndo = "open_table"\nsource = "t.csv"\n'
        '[[step]]\ndo = "protect"\nseed = 4\n'
        '[[step]]\ndo = "publish"\nrelease = "/somewhere/else/../r.zip"\n'
    )
    _, written = replay.run_file(beside / "r.toml", tmp_path / "deep" / "out")
    assert written == [tmp_path / "deep" / "out" / "r.zip"] and written[0].exists()


def test_a_set_is_published_by_its_older_word_too(tmp_path: Path) -> None:
    begin = """
        [[step]]
        do = "open_table"
        source = "example:czech-autoworkers"
        [[step]]
        do = "set_method"
        method = "random_rounding"
        [[step]]
        do = "set_parameters"
        margins = "A*B + B*C"
        [[step]]
        do = "protect"
        seed = "7"
        [[step]]
        """
    end = "\ndossier = 'd.zip'\ntables = { one = 'A*B', two = 'B*C' }\n"
    texts = {"older": 'do = "publish_set"\nfolder = "set"', "now": 'do = "publish"\nrelease = "set"'}
    found = {}
    for name, last in texts.items():
        out = tmp_path / name
        steps = replay.from_text(f"recipe = {recipe_text.FORMAT}\n{begin}{last}{end}")
        history, written = replay.run(steps, out)
        assert written == [out / "set", out / "d.zip"]
        assert history.steps[-1].command == "publish"
        assert history.steps[-1].label == "publish a set of tables as set"
        found[name] = {path.name: path.read_bytes() for path in (out / "set").iterdir()}
    assert found["older"] == found["now"]
    assert set(found["now"]) == {"one.zip", "two.zip", "set.json", "manifest.json"}


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("recipe = 1\n[[step]\n", "not a valid recipe.*line 2"),
        ("", 'begins with "recipe = 1"'),
        ("recipe = 2\n", 'begins with "recipe = 1"'),
        ("recipe = 1\n", r"no \[\[step\]\]"),
        ('recipe = 1\nstep = "x"\n', r"no \[\[step\]\]"),
        ("recipe = 1\n[[step]]\nat = 1\n", "step 1 says not what to do"),
        ('recipe = 1\n[[step]]\ndo = "protect"\nseed = "x"\n', r"step 1 \(protect\): the seed"),
    ],
)
def test_bad_recipes(tmp_path: Path, text: str, match: str) -> None:
    path = tmp_path / "r.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=match) as error:
        replay.read(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    ("steps", "match"),
    [
        ([("dance", {})], r"step 1 \(dance\): there is no command"),
        ([OPEN, ("set_count", {"index": [0, 0]})], r"step 2 \(set_count\).*count"),
        ([OPEN, ("set_parameters", {"alpha": 7})], "step 2"),
        ([("protect", {})], "step 1"),
    ],
)
def test_a_failing_step_is_named(tmp_path: Path, steps: list[tuple[str, dict[str, Any]]], match: str) -> None:
    path = tmp_path / "r.toml"
    path.write_text(tomli_w.dumps({"recipe": 1, "step": [{"do": d, **a} for d, a in steps]}))
    with pytest.raises(TabprotectError, match=match):
        replay.run_file(path, tmp_path / "out")


def test_no_such_recipe(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        replay.read(tmp_path / "none.toml")
