"""Every command: what it does, what it drops, what it refuses, and that undo brings all back."""

from __future__ import annotations

import inspect
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.bundle import public
from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.cycles import cycle_files as files
from tabprotect.engine.cycles.designs import bidiagonal, elementary
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.errors import (
    InfeasibleError,
    InputError,
    Interrupted,
    ParameterError,
    RefusedError,
    TabprotectError,
)
from tabprotect.engine.progress import Cancellable
from tabprotect.engine.project.commands import COMMANDS, named
from tabprotect.engine.project.copy_as_command import line
from tabprotect.engine.project.history import History
from tabprotect.engine.project.placement import Placement
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.releasing.coins import FRESH_COINS
from tabprotect.engine.project.verbs.cycle_verbs import set_cycles
from tabprotect.engine.project.verbs.release_verbs import protect, set_parameters, set_seed
from tabprotect.engine.project.verbs.table_verbs import pasted, set_count, tabulate
from tabprotect.engine.protection.problem import GIVEN_SEED
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

EXAMPLE = ("open_table", {"source": "example:duncan-roehrig-4x4"})


def apply(project: Project, name: str, arguments: dict[str, Any] | None = None) -> History:
    return History(project).apply(name, arguments)[0]


def after(*steps: tuple[str, dict[str, Any]], start: Project | None = None) -> Project:
    project = start or Project()
    for name, given_ in steps:
        project = apply(project, name, given_).project
    return project


@pytest.fixture(scope="module")
def example() -> Project:
    return after(EXAMPLE)


def test_an_example_brings_table_cycles_and_title(example: Project) -> None:
    assert example.kind == "house" and example.original.domain.names == ("v", "w")
    assert example.moves is not None and len(example.cycles) == 4
    assert "Duncan" in example.title and not example.edited
    assert example.shown_placement == Placement(("v",), ("w",))


def test_a_file_gives_no_title(tmp_path: Path) -> None:
    path = tmp_path / "mr-smith.csv"
    path.write_text("a,b,count\nx,y,1\nx,z,2\nq,y,3\nq,z,4\n")
    project = after(("open_table", {"source": str(path)}))
    assert project.title == "" and project.name == "mr-smith.csv"
    assert project.original.counts.tolist() == [[1, 2], [3, 4]]
    # Other documents do not inherit cycles or parameters.
    later = after(EXAMPLE, ("set_parameters", {"alpha": 0.1}), ("open_table", {"source": str(path)}))
    assert later.moves is None and dict(later.parameters) == {}


def test_set_count_drops_the_result_and_keeps_the_cycles(example: Project) -> None:
    project = after(("protect", {"seed": 3}), start=example)
    assert project.protected is not None
    done, changes = History(project).apply("set_count", {"index": [0, 1], "count": 5})
    assert done.undo_label == "set (v1, w2) to 5"
    assert changes == {"table", "release"}
    assert done.project.original[0, 1] == 5 and done.project.protected is None
    assert done.project.cycles == example.cycles and done.project.edited
    assert project.original[0, 1] != 5 and project.protected is not None


@pytest.mark.parametrize(
    ("name", "given_"),
    [
        ("set_count", {"index": [0, 1], "count": -1}),
        ("set_count", {"index": [0, 9], "count": 1}),
        ("set_count", {"index": [0], "count": 1}),
        ("set_count", {"index": "ab", "count": 1}),
        ("set_count", {"index": [0, 1], "count": 1.5}),
        ("set_count", {"index": [0, 1], "count": True}),
        ("set_count", {"index": [0, 1]}),
        ("set_count", {"index": [0, 1], "count": 1, "colour": "red"}),
        ("paste_block", {"at": [3, 3], "counts": [[1, 2]]}),
        ("paste_block", {"at": [0, 0], "counts": [["x"]]}),
        ("paste_block", {"at": [0, 0], "counts": [[]]}),
        ("paste_block", {"at": [0, 0], "counts": [[-1]]}),
        ("paste_block", {"at": [0, 0], "counts": [[2**63]]}),
        ("add_category", {"variable": "v", "category": "v1"}),
        ("add_category", {"variable": "q", "category": "v9"}),
        ("remove_category", {"variable": "v", "category": "v1"}),
        ("merge_categories", {"variable": "v", "categories": ["v1"], "into": "x"}),
        ("merge_categories", {"variable": "v", "categories": ["v1", "v2"], "into": "v3"}),
        ("rename_category", {"variable": "v", "category": "v1", "to": "v2"}),
        ("rename_variable", {"variable": "v", "to": "w"}),
        ("reorder_categories", {"variable": "v", "categories": ["v1", "v2", "v3"]}),
        ("set_at_risk", {"rule": "two"}),
        ("place", {"rows": ["v"], "columns": []}),
        ("place", {"rows": ["v"], "columns": ["v", "w"]}),
        ("set_cycles", {"kind": "spiral"}),
        ("set_cycles", {"kind": "balanced", "file": "x.json"}),
        ("set_cycles", {"file": "/nowhere/cycles.json"}),
        ("set_cycles", {"cycles": {"shape": [4, 4], "cycles": [{"plus": [[9, 9]], "minus": []}]}}),
        ("flip_cycle_cell", {"cycle": 7, "index": [0, 0], "sign": 1}),
        ("flip_cycle_cell", {"cycle": 0, "index": [0, 0], "sign": 2}),
        ("remove_cycle", {"cycle": -1}),
        ("set_parameters", {"alpha": 0.9}),
        ("set_parameters", {"alpha": 0.0, "beta": 0.0}),
        ("set_parameters", {"gamma": 0.5}),
        ("set_parameters", {"cycles": "balanced"}),
        ("set_seed", {"seed": -1}),
        ("set_method", {"method": "magic"}),
        ("set_prior", {"who": "nobody", "prior": "uniform"}),
        ("set_prior", {"who": "user", "prior": "level"}),
        ("publish", {"release": "r.zip"}),
        ("open_table", {"source": "example:nothing"}),
        ("open_bundle", {"path": "/nowhere/r.zip"}),
        ("no_such_command", {}),
    ],
)
def test_what_is_refused_changes_nothing(example: Project, name: str, given_: dict[str, Any]) -> None:
    history = History(example)
    with pytest.raises((InputError, ParameterError, InfeasibleError)) as error:
        history.apply(name, given_)
    assert error.value.message
    assert history.project is example and history.steps == ()


def test_paste_follows_the_placement() -> None:
    domain = {"a": ["1", "2"], "b": ["1", "2", "3"], "c": ["1", "2"]}
    project = after(("new_table", {"variables": domain}), ("place", {"rows": ["c", "a"], "columns": ["b"]}))
    block = [[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]]
    changes = pasted(project, at=[0, 0, 0], counts=block)
    assert len(changes) == 12
    counts = after(("paste_block", {"at": [0, 0, 0], "counts": block}), start=project)
    # Rows run over c slowly and a fast.
    assert counts.original.counts[:, :, 0].tolist() == block[:2]
    assert counts.original.counts[:, :, 1].tolist() == block[2:]
    layered = after(("place", {"rows": ["a"], "columns": ["b"], "layers": ["c"]}), start=project)
    inside = after(("paste_block", {"at": [1, 1, 1], "counts": [[5, 6]]}), start=layered)
    assert inside.original.counts[1, 1:, 1].tolist() == [5, 6]
    assert inside.original.total == 11


@given(st.permutations(["a", "b", "c", "d"]), st.integers(0, 4), st.integers(0, 4), st.data())
def test_placement_finds_its_cells_again(
    names: list[str], first: int, second: int, data: st.DataObject
) -> None:
    domain = Domain.of({n: [str(i) for i in range(s)] for n, s in zip("abcd", (2, 3, 4, 2), strict=True)})
    low, high = sorted((first, second))
    placement = Placement(tuple(names[:low]), tuple(names[low:high]), tuple(names[high:]))
    placement.check(domain)
    index = tuple(data.draw(st.integers(0, size - 1)) for size in domain.shape)
    row, column = placement.position(domain, index)
    rows, columns = placement.size(domain)
    assert 0 <= row < rows and 0 <= column < columns
    assert placement.cell(domain, row, column, like=index) == index


def test_categories(example: Project) -> None:
    counts = example.original.counts
    added = after(("add_category", {"variable": "v", "category": "v0", "at": 0}), start=example)
    assert added.original.domain["v"].categories == ("v0", "v1", "v2", "v3", "v4")
    assert added.original.counts[0].sum() == 0 and added.moves is None
    gone = after(("remove_category", {"variable": "v", "category": "v0"}), start=added)
    assert np.array_equal(gone.original.counts, counts)
    merged = after(
        ("merge_categories", {"variable": "w", "categories": ["w4", "w2"], "into": "rest"}), start=example
    )
    assert merged.original.domain["w"].categories == ("w1", "rest", "w3")
    assert np.array_equal(merged.original.counts[:, 1], counts[:, 1] + counts[:, 3])
    assert merged.original.total == counts.sum()
    turned = after(
        ("reorder_categories", {"variable": "w", "categories": ["w4", "w3", "w2", "w1"]}), start=example
    )
    assert np.array_equal(turned.original.counts, counts[:, ::-1])
    named = after(
        ("rename_category", {"variable": "w", "category": "w1", "to": "first"}),
        ("rename_variable", {"variable": "w", "to": "year"}),
        start=example,
    )
    assert named.original.domain["year"].categories[0] == "first"
    assert named.shown_placement == Placement(("v",), ("year",))
    assert named.cycles.domain == named.domain
    assert np.array_equal(named.original.counts, counts)


def test_cycles(example: Project, tmp_path: Path) -> None:
    domain = example.domain
    assert after(("set_cycles", {"kind": "elementary"}), start=example).cycles == elementary(domain)
    assert after(("set_cycles", {}), start=example).moves is None
    path = tmp_path / "set.json"
    path.write_text(json.dumps(files.to_json(bidiagonal(domain))))
    loaded = after(("set_cycles", {"file": str(path)}), start=example)
    assert loaded.cycles == bidiagonal(domain) and loaded.cycles_from == "set.json"
    drawn = after(("set_cycles", {"cycles": files.to_json(elementary(domain))}), start=example)
    assert drawn.cycles == elementary(domain)
    fewer = after(("set_cycles", {"kind": "elementary", "margins": [["v"]]}), start=example)
    assert fewer.margins == (("v",),)


def test_drawing_cycles(example: Project) -> None:
    before = [example.cycles.array(i) for i in range(4)]
    flipped = after(("flip_cycle_cell", {"cycle": 1, "index": [0, 0], "sign": -1}), start=example).cycles
    assert flipped.array(1)[0, 0] == -1
    assert (flipped.array(1) != before[1]).sum() == 1
    assert all(np.array_equal(flipped.array(i), before[i]) for i in (0, 2, 3))
    cleared = after(("flip_cycle_cell", {"cycle": 0, "index": [0, 0], "sign": 0}), start=example).cycles
    assert cleared.array(0)[0, 0] == 0
    more = after(
        ("add_cycle", {}),
        ("add_cycle", {"plus": [[0, 0], [3, 3]], "minus": [[0, 3], [3, 0]], "at": 0}),
        ("move_cycle", {"cycle": 0, "to": 5}),
        start=example,
    ).cycles
    assert len(more) == 6 and not more.violations()
    assert more.array(5)[0, 0] == 1 and more.array(5)[3, 0] == -1
    # One of one's own leaves the rule as it was chosen with the cycles.
    chosen = after(("open_table", {"source": "example:sparse-10x10"}))
    own = after(("add_cycle", {}), start=chosen)
    assert chosen.resolved["blocking"] == own.resolved["blocking"] == "negative"
    fewer = after(("remove_cycle", {"cycle": 2}), start=example).cycles
    kept = (before[0], before[1], before[3])
    assert all(np.array_equal(fewer.array(i), a) for i, a in enumerate(kept))
    short = after(
        ("set_cycles", {"cycles": {"shape": [4, 4], "cycles": [{"plus": [[0, 0]], "minus": []}]}}),
        start=example,
    )
    with pytest.raises(InputError, match="would be empty"):
        apply(short, "flip_cycle_cell", {"cycle": 0, "index": [0, 0], "sign": 0})
    with pytest.raises(InputError, match="at least one"):
        apply(short, "remove_cycle", {"cycle": 0})
    # A set that breaks margins may be drawn, never used.
    with pytest.raises(InputError, match="cycle 1 changes the margin"):
        apply(short, "protect")


def test_short_seeds_are_refused_with_how_fast_they_are_found(
    example: Project, short_seeds: int, tmp_path: Path
) -> None:
    out = {"release": str(tmp_path / "r.zip")}
    drawn = apply(example, "protect", {"seed": 11})
    with pytest.raises(RefusedError, match="is done in less than a second") as error:
        drawn.apply("publish", out)
    assert "25,400 a second" in error.value.message
    assert "coins of the house" in str(error.value.hint)
    with pytest.raises(RefusedError, match="done in 44 years"):
        apply(example, "protect", {"seed": 2**44 + 1}).apply("publish", out)
    assert not list(tmp_path.iterdir())
    done = apply(example, "protect", {"seed": 11, "accept": "a trial"}).project.protected
    assert done is not None
    assert "a short seed was accepted: a trial" in done.record.decisions
    agreed, _ = drawn.apply("publish", {**out, "accept": "agreed"})
    assert agreed.project.protected is not None
    assert "a short seed was accepted: agreed" in agreed.project.protected.record.decisions
    with pytest.raises(ParameterError, match="fresh coins are asked for"):
        apply(example, "protect", {"fresh": True, "seed": 3})
    warned = replace(example, policy=AgencyPolicy(short_seed="warn"))
    assert apply(warned, "protect", {"seed": 11}).project.protected is not None
    assert apply(example, "protect").project.protected is not None


def test_protect_takes_the_seed_it_is_given_and_else_the_houses(example: Project) -> None:
    one, changes = History(example).apply("protect", {"seed": 11})
    two = apply(after(("set_seed", {"seed": 11}), start=example), "protect")
    assert one.trail[-1].seed == two.trail[-1].seed == 11 and changes == {"release"}
    assert one.project.release is not None and two.project.release is not None
    assert one.project.release.table == two.project.release.table
    assert one.project.seed is None
    houses = {apply(example, "protect").trail[-1].seed for _ in range(3)}
    other = apply(after(("set_parameters", {"alpha": 0.2}), start=example), "protect")
    assert len(houses) == 1 and other.trail[-1].seed not in houses
    fresh = {apply(example, "protect", {"fresh": True}).trail[-1].seed for _ in range(3)}
    assert len(fresh | houses) == 4 and min(s or 0 for s in fresh) > 2**64
    kept = apply(after(("set_seed", {"seed": None, "fresh": True}), start=example), "protect")
    assert kept.trail[-1].seed not in fresh | houses
    decided = []
    for history in (one, kept, other):
        assert history.project.protected is not None
        decided.append(history.project.protected.record.decisions)
    assert decided == [(GIVEN_SEED,), (FRESH_COINS,), ()]


def test_everything_that_decides_the_result_drops_it(example: Project) -> None:
    project = after(("protect", {"seed": 3}), start=example)
    for name, given_ in (
        ("set_parameters", {"alpha": 0.2}),
        ("set_cycles", {"kind": "strips"}),
        ("set_at_risk", {"rule": "1..3"}),
        ("set_seed", {"seed": 4}),
        ("rename_category", {"variable": "v", "category": "v1", "to": "x"}),
    ):
        assert after((name, given_), start=project).release is None, name
    for name, given_ in (
        ("place", {"rows": ["w"], "columns": ["v"]}),
        ("set_prior", {"who": "user", "prior": "positive"}),
    ):
        assert after((name, given_), start=project).protected is project.protected
    titled = after(("set_title", {"title": "other"}), start=project)
    assert titled.release is not None and titled.release.title == "other"


def test_a_weak_mechanism_takes_a_recorded_decision() -> None:
    project = after(
        ("open_table", {"source": "example:sparse-10x10"}), ("set_cycles", {"kind": "bidiagonal"})
    )
    with pytest.raises(RefusedError) as error:
        apply(project, "protect", {"seed": 1})
    assert error.value.exit_code == 5 and error.value.hint
    done = apply(project, "protect", {"seed": 1, "accept_weak": True}).project
    assert done.protected is not None and done.protected.record.decisions


def test_protect_can_be_cancelled(example: Project) -> None:
    progress = Cancellable()
    progress.cancel()
    history = History(example)
    with pytest.raises(Interrupted):
        history.apply("protect", {}, progress=progress)
    assert history.project is example


def test_publish_writes_both_files_or_refuses(example: Project, tmp_path: Path) -> None:
    history, _ = History(example).apply("protect", {"seed": 3})
    given_ = {"release": str(tmp_path / "r.zip"), "dossier": str(tmp_path / "CONFIDENTIAL.zip")}
    published, changes = history.apply("publish", given_)
    assert changes == {"release"} and published.project.published
    assert public.read(tmp_path / "r.zip").table == published.project.release.table  # type: ignore[union-attr]
    assert confidential.read(tmp_path / "CONFIDENTIAL.zip").record.seed == 3
    (tmp_path / "r.zip").unlink()
    with pytest.raises(InputError, match="already"):
        history.apply("publish", given_)
    assert not (tmp_path / "r.zip").exists()
    history.apply("publish", given_ | {"overwrite": True})
    assert (tmp_path / "r.zip").exists()
    nowhere = {"release": str(tmp_path / "none" / "r.zip"), "dossier": str(tmp_path / "d.zip")}
    with pytest.raises(InputError, match="no such folder"):
        history.apply("publish", nowhere)
    assert not (tmp_path / "d.zip").exists()
    progress = Cancellable()
    progress.cancel()
    with pytest.raises(Interrupted):
        history.apply("publish", {"release": str(tmp_path / "c.zip")}, progress=progress)
    assert not (tmp_path / "c.zip").exists()
    with pytest.raises(InputError, match="one file"):
        history.apply("publish", {"release": given_["release"], "dossier": given_["release"]})


def test_a_reader_sees_the_release_and_cannot_edit(example: Project, tmp_path: Path) -> None:
    path = str(tmp_path / "r.zip")
    house = after(("protect", {"seed": 3}), ("publish", {"release": path}), start=example)
    reader = after(("open_bundle", {"path": path}))
    assert reader.kind == "reader" and reader.table is None and reader.protected is None
    assert reader.release is not None and house.release is not None
    assert reader.release.table == house.release.table
    stated = {name: value for name, value in house.resolved.items() if value is not None}
    assert reader.cycles == house.cycles and reader.resolved == stated
    assert after(("set_prior", {"who": "user", "prior": "positive:0,0"}), start=reader)
    for name, given_ in (
        ("set_count", {"index": [0, 0], "count": 1}),
        ("protect", {}),
        ("set_cycles", {"kind": "strips"}),
        ("flip_cycle_cell", {"cycle": 0, "index": [0, 0], "sign": 1}),
        ("remove_cycle", {"cycle": 0}),
        ("split_cycles", {}),
        ("publish", {"release": "x.zip"}),
    ):
        with pytest.raises(TabprotectError):
            apply(reader, name, given_)


STEPS = st.sampled_from(
    [
        ("set_count", {"index": [1, 1], "count": 4}),
        ("paste_block", {"at": [0, 0], "counts": [[1, 2], [3, 4]]}),
        ("rename_category", {"variable": "v", "category": "v2", "to": "second"}),
        ("rename_variable", {"variable": "w", "to": "year"}),
        ("merge_categories", {"variable": "v", "categories": ["v3", "v4"], "into": "v34"}),
        ("add_category", {"variable": "v", "category": "v5"}),
        ("set_cycles", {"kind": "strips"}),
        ("remove_cycle", {"cycle": 0}),
        ("split_cycles", {}),
        ("set_parameters", {"alpha": 0.3, "beta": 0.3}),
        ("set_at_risk", {"rule": "1..4"}),
        ("protect", {"seed": 5, "accept_weak": True}),
        ("set_prior", {"who": "intruder", "prior": "uniform"}),
    ]
)


@given(st.lists(STEPS, max_size=6))
@settings(max_examples=25, deadline=None)
def test_undo_brings_everything_back(steps: list[tuple[str, dict[str, Any]]]) -> None:
    history = History(after(EXAMPLE))
    seen = [history.project]
    for name, given_ in steps:
        try:
            history = history.apply(name, given_)[0]
        except TabprotectError:
            continue
        seen.append(history.project)
    for project in reversed(seen[:-1]):
        history, _ = history.undo()
        assert history.project is project
    assert history.undo_label == ""
    for project in seen[1:]:
        history, _ = history.redo()
        assert history.project is project


def test_every_command_has_a_label_without_a_seed(example: Project) -> None:
    assert "7" not in set_seed(seed=7).label(example)
    assert "7" not in protect(seed=7).label(example)
    label = set_parameters(alpha=0.3, passes=2).label(example)
    assert label == "set alpha to 0.30 and passes to 2"


def test_nothing_confidential_shows_in_a_repr(example: Project) -> None:
    project = after(("set_seed", {"seed": 987654321}), ("protect", {}), start=example)
    text = repr(project) + repr(History(project))
    assert "987654321" not in text and "array" not in text


def test_the_equivalent_command_line(example: Project) -> None:
    assert line(set_cycles(kind="strips").words(example)) == (
        "tabprotect cycles design --shape 4,4 --kind strips --out cycles.json"
    )
    project = after(
        ("set_parameters", {"alpha": 0.3, "beta": 0.3}),
        ("set_cycles", {"kind": "strips"}),
        ("set_title", {"title": "it's"}),
        ("set_seed", {"seed": 987654321}),
        start=example,
    )
    said = line(protect(seed=5).words(project))
    assert said.startswith("tabprotect protect example:duncan-roehrig-4x4 --method cyclic")
    assert "--set cycles=strips --set alpha=0.3 --set beta=0.3" in said
    assert "987654321" not in said and "--seed" not in said
    edited = after(("set_count", {"index": [0, 0], "count": 1}), start=project)
    assert line(protect().words(edited)).startswith("tabprotect protect project.tabprotect ")
    assert line(set_count(index=[0, 0], count=1).words(example)) == ""
    given_ = {"source": "r.csv", "by": ["a", "b"], "weight": "w"}
    counted = "tabprotect tabulate r.csv --by a,b"
    assert line(tabulate.order(given_).words(Project())) == f"{counted} --weight w --out table.csv"
    given_ = {"source": "r.csv", "by": ["a", "b"], "record_key": "k", "design_weight": "w"}
    assert line(tabulate.order(given_).words(Project())) == (
        f"{counted} --record-key k --design-weight w --out project.tabprotect"
    )
    given_ = {"source": "r.csv", "by": ["a", "b"], "draw_keys": True, "key_seed": 987654321}
    assert line(tabulate.order(given_).words(Project())) == (
        f"{counted} --draw-record-keys --out project.tabprotect"
    )


def test_sparse_tables_open_too() -> None:
    domain = Domain.of_shape((4, 4))
    table = Table.sparse(domain, [1, 5], [2, 3])
    project = Project(table=table)
    assert after(("set_count", {"index": [0, 0], "count": 7}), start=project).original.total == 12


def test_arguments_are_checked_against_what_the_verb_declares(example: Project) -> None:
    with pytest.raises(ParameterError) as caught:
        set_count.order({"index": [0, 0], "count": 1, "cell": 3, "value": 4})
    assert set(caught.value.fields) == {"cell", "value"}
    for name, given_, said in (
        ("set_count", {"index": [0, 0]}, "count: is missing"),
        ("set_count", {"index": "00", "count": 1}, "index: must be a list"),
        ("set_count", {"index": [0, 0.5], "count": 1}, r"index\[1\]: must be a whole number"),
        ("set_count", {"index": [0, 0], "count": True}, "count: must be a whole number"),
        ("new_table", {"variables": {"a": "xy"}}, "variables.a: must be a list"),
        ("new_table", {"variables": ["a"]}, "variables: must be named values"),
        ("set_title", {"title": 3}, "title: must be text"),
        ("protect", {"accept_weak": 1}, "accept_weak: must be true or false"),
    ):
        with pytest.raises(InputError, match=said):
            named(name).order(given_)
    assert dict(set_seed(seed=None).arguments) == {"seed": None}
    assert dict(protect(seed=None, accept_weak=False).arguments) == {}


def test_every_command_declares_what_it_has() -> None:
    for command in COMMANDS.values():
        parameters = inspect.signature(command.run).parameters
        files = (command.says.reads, *command.says.writes, *(["overwrite"] if command.says.writes else []))
        assert set(parameters) >= {name for name in (*files, command.says.seed) if name}
        assert command.run.__doc__ and command.run.__name__ == command.name
