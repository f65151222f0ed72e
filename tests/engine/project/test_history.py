"""Undo, redo, jumps, the barrier of publication, and memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabprotect.engine.errors import InputError
from tabprotect.engine.project import history as history_module
from tabprotect.engine.project.history import History


def built() -> History:
    history = History()
    for name, given in (
        ("open_table", {"source": "example:duncan-roehrig-4x4"}),
        ("set_count", {"index": [0, 0], "count": 9}),
        ("set_parameters", {"alpha": 0.3}),
    ):
        history, _ = history.apply(name, given)
    return history


def test_undo_and_redo_name_their_steps() -> None:
    history = built()
    assert history.undo_label == "set alpha to 0.30" and history.redo_label == ""
    back, changes = history.undo()
    assert changes == {"parameters"} and back.redo_label == "set alpha to 0.30"
    assert back.undo_label == "set (v1, w1) to 9"
    back, changes = back.undo()
    assert changes == {"table"}
    forth, _ = back.redo()
    assert forth.project.original[0, 0] == 9
    with pytest.raises(InputError, match="nothing to redo"):
        history.redo()
    # A document begins with what was opened: nobody undoes it away.
    start, _ = history.jump(1)
    assert start.project.table is not None and start.undo_label == ""
    with pytest.raises(InputError, match="nothing to undo"):
        start.undo()
    end, changes = start.jump(3)
    assert end.project is history.project and "table" in changes
    for position in (-1, 4):
        with pytest.raises(InputError):
            history.jump(position)


def test_a_new_step_replaces_what_was_undone() -> None:
    history, _ = built().undo()
    history, _ = history.apply("set_parameters", {"beta": 0.1})
    assert [s.label for s in history.steps][-1] == "set beta to 0.10"
    assert history.position == len(history.steps) == 3
    assert [entry.label for entry in history.trail] == [s.label for s in history.steps]


def test_undo_does_not_cross_a_publication(tmp_path: Path) -> None:
    history, _ = built().apply("protect", {"seed": 1})
    history, _ = history.apply("publish", {"release": str(tmp_path / "r.zip")})
    assert history.steps[-1].sealed and history.undo_label == ""
    with pytest.raises(InputError, match="published cannot be undone"):
        history.undo()
    on, _ = history.apply("set_count", {"index": [0, 0], "count": 3})
    back, _ = on.undo()
    assert back.project is history.project and back.project.published
    with pytest.raises(InputError, match="published"):
        on.jump(2)
    # What was published stays published in the trail, whatever follows.
    assert [entry.sealed for entry in on.trail] == [False] * 4 + [True, False]


def test_the_drawn_seed_is_kept_in_the_step_and_out_of_sight() -> None:
    history, _ = built().apply("protect")
    seed = history.project.protected.record.seed  # type: ignore[union-attr]
    assert history.steps[-1].seed == seed == history.trail[-1].seed
    assert str(seed) not in repr(history.steps) + repr(history.trail)
    assert history.steps[-1].label == "protect with Cyclic perturbation"


def test_old_snapshots_are_forgotten_before_memory_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    def edited() -> History:
        history, _ = History().apply("open_table", {"source": "example:duncan-roehrig-4x4"})
        for count in range(6):
            history, _ = history.apply("set_count", {"index": [0, 0], "count": 50 + count})
        return history

    seen: dict[int, object] = {}
    room = sum(history_module.held_bytes(s.project, seen) for s in edited().steps[:-4:-1])
    monkeypatch.setattr(history_module, "SNAPSHOT_BYTES", room)
    history = edited()
    kept = [step.project is not None for step in history.steps]
    assert kept == [False] * 4 + [True] * 3
    assert len(history.trail) == 7
    for _ in range(2):
        history, _ = history.undo()
    assert history.undo_label == "" and history.project.original[0, 0] == 53
    with pytest.raises(InputError, match="nothing to undo"):
        history.undo()
