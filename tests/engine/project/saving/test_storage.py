"""Project files and recovery: everything comes back, damage is told, nothing is half written."""

from __future__ import annotations

import io
import os
import pickle
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same_values import difference

from tabprotect.engine.errors import InputError, TabprotectError
from tabprotect.engine.project.history import History
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.saving import recovery, storage
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table


def worked(folder: Path) -> History:
    history = History()
    steps: list[tuple[str, dict[str, Any]]] = [
        ("open_table", {"source": "example:duncan-roehrig-4x4"}),
        ("set_count", {"index": [0, 1], "count": 2}),
        ("set_cycles", {"kind": "elementary"}),
        ("set_parameters", {"alpha": 0.3, "beta": 0.2}),
        ("set_seed", {"seed": 2**90}),
        ("place", {"rows": ["w"], "columns": ["v"]}),
        ("set_prior", {"who": "user", "prior": "positive:0,0"}),
        ("protect", {}),
        ("publish", {"release": str(folder / "r.zip")}),
        ("set_title", {"title": "later"}),
        ("set_at_risk", {"rule": "1..4"}),
    ]
    for name, given_ in steps:
        history, _ = history.apply(name, given_)
    return history.undo()[0]


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    return worked(tmp_path_factory.mktemp("worked"))


def same(a: Project, b: Project) -> None:
    assert difference(a, b) == ""


def test_everything_comes_back(history: History, tmp_path: Path) -> None:
    path = tmp_path / "p.tabprotect"
    storage.save(history, path)
    again = storage.load(path)
    assert again.position == history.position == 10
    same(history.base, again.base)
    for one, two in zip(history.steps[:10], again.steps, strict=True):
        assert (one.command, one.label, one.time, one.seed) == (
            *(two.command, two.label, two.time, two.seed),
        )
        assert dict(one.arguments) == dict(two.arguments)
        assert one.project is not None and two.project is not None
        same(one.project, two.project)
    # The barrier of publication survives. What was undone was dropped, and is not in the file.
    assert history.redo_label and again.redo_label == ""
    back, _ = again.undo()
    with pytest.raises(InputError, match="published"):
        back.undo()


def test_the_same_history_gives_the_same_bytes(history: History) -> None:
    data = storage.to_bytes(history)
    assert storage.to_bytes(storage.from_bytes(data)) == data


def test_snapshots_share_what_they_have_in_common(history: History) -> None:
    with zipfile.ZipFile(io.BytesIO(storage.to_bytes(history))) as archive:
        names = archive.namelist()
    # 4x4 tables: opened, edited, published; two cycle sets; one result. Not one per step.
    assert len(names) < 20


def test_a_result_against_the_gate_and_a_reader_come_back(tmp_path: Path) -> None:
    history = History()
    steps: list[tuple[str, dict[str, Any]]] = [
        ("open_table", {"source": "example:sparse-10x10"}),
        ("set_cycles", {"kind": "bidiagonal"}),
        ("protect", {"accept_weak": True}),
        ("publish", {"release": str(tmp_path / "r.zip")}),
    ]
    for name, given_ in steps:
        history, _ = history.apply(name, given_)
    again = storage.from_bytes(storage.to_bytes(history)).project
    same(history.project, again)
    assert history.project.protected is not None and again.protected is not None
    assert again.protected.record.decisions == history.project.protected.record.decisions
    assert again.protected.release.mechanism.gate == history.project.protected.release.mechanism.gate
    reader, _ = History().apply("open_bundle", {"path": str(tmp_path / "r.zip")})
    back = storage.from_bytes(storage.to_bytes(reader)).project
    assert back.kind == "reader" and reader.project.release == back.release


def test_a_readers_file_holds_nothing_of_the_house(tmp_path: Path) -> None:
    history = History()
    steps: list[tuple[str, dict[str, Any]]] = [
        ("open_table", {"source": "example:duncan-roehrig-4x4"}),
        ("set_count", {"index": [0, 1], "count": 7391773917}),
        ("set_prior", {"who": "user", "prior": "positive:0,1"}),
        ("protect", {"seed": 982451653982451655}),
        ("publish", {"release": str(tmp_path / "r.zip")}),
    ]
    for name, given_ in steps:
        history, _ = history.apply(name, given_)
    original = history.project.original
    assert history.project.release is not None and history.project.release.table != original
    secrets = [
        np.ascontiguousarray(original.counts).tobytes(),
        *(b"7391773917 982451653982451655 duncan positive:0,1 set_count".split()),
    ]

    def found(content: History) -> list[bytes]:
        with zipfile.ZipFile(io.BytesIO(storage.to_bytes(content))) as archive:
            data = b"".join(archive.read(name) for name in archive.namelist())
        return [secret for secret in secrets if secret in data]

    assert found(history) == secrets
    before = history.project
    reader, changed = history.apply("open_bundle", {"path": str(tmp_path / "r.zip")})
    assert {"table", "release", "priors"} <= changed
    assert history.project is before
    assert reader.project.kind == "reader"
    assert found(reader) == []
    assert reader.undo_label == ""
    assert [entry.command for entry in reader.trail] == ["open_bundle"]


def test_large_histories_keep_their_present(monkeypatch: pytest.MonkeyPatch, history: History) -> None:
    monkeypatch.setattr(storage, "SAVED_BYTES", 0)
    again = storage.from_bytes(storage.to_bytes(history))
    same(history.project, again.project)
    assert [s.label for s in again.steps] == [s.label for s in history.steps[:10]]
    assert again.undo_label == ""


def test_sparse_tables_stay_sparse() -> None:
    domain = Domain.of_shape((50, 40))
    table = Table.sparse(domain, [3, 70], [2**40, 1])
    again = storage.from_bytes(storage.to_bytes(History(Project(table=table)))).project
    assert again.original.is_sparse and again.original == table


class Planted:
    def __reduce__(self) -> tuple[Any, ...]:
        return (os.mkdir, ("executed",))


def test_no_pickle_is_ever_run(history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    out = io.BytesIO()
    np.save(out, np.array([Planted()], dtype=object), allow_pickle=True)
    for payload in (out.getvalue(), pickle.dumps(Planted())):
        changed = io.BytesIO()
        with (
            zipfile.ZipFile(io.BytesIO(storage.to_bytes(history))) as archive,
            zipfile.ZipFile(changed, "w") as copy,
        ):
            for name in archive.namelist():
                copy.writestr(name, payload if name.endswith(".npy") else archive.read(name))
        with pytest.raises(InputError, match="damaged"):
            storage.from_bytes(changed.getvalue())
    assert not (tmp_path / "executed").exists()


@given(st.data())
@settings(max_examples=80, deadline=None)
def test_random_changes_of_the_json_are_told_and_never_crash(history: History, data: st.DataObject) -> None:
    """The zip is sound, its JSON is not: an error of ours, or a history that holds together."""
    with zipfile.ZipFile(io.BytesIO(storage.to_bytes(history))) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    text = bytearray(files["project.json"])
    begin = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(begin, min(begin + 20, len(text))))
    text[begin:end] = data.draw(st.sampled_from([b"", b"null", b"-1", b"99", b'"x"', b"[]", b"{}"]))
    changed = io.BytesIO()
    with zipfile.ZipFile(changed, "w") as copy:
        for name, content in (files | {"project.json": bytes(text)}).items():
            copy.writestr(name, content)
    try:
        found = storage.from_bytes(changed.getvalue())
    except TabprotectError:
        return
    assert found.project.kind in ("house", "reader", "empty")
    assert isinstance(found.undo_label, str) and found.trail is not None


def test_what_is_no_project(tmp_path: Path) -> None:
    path = tmp_path / "p.tabprotect"
    with pytest.raises(InputError, match="no such file"):
        storage.load(path)
    for content in (b"", b"PK", b"hello"):
        path.write_bytes(content)
        with pytest.raises(InputError) as error:
            storage.load(path)
        assert error.value.file == str(path)


def test_a_failed_save_leaves_the_old_file(history: History, tmp_path: Path) -> None:
    path = tmp_path / "p.tabprotect"
    storage.save(history, path)
    before = path.read_bytes()
    with pytest.raises(InputError, match="already"):
        storage.save(History(), path, overwrite=False)
    assert path.read_bytes() == before
    with pytest.raises(InputError, match="no such folder"):
        storage.save(history, tmp_path / "none" / "p.tabprotect")


CHILD = """
import sys, time
from pathlib import Path
from tabprotect.engine.project.history import History
from tabprotect.engine.project.saving.recovery import Session
session = Session(Path(sys.argv[1]))
history, _ = History().apply("open_table", {"source": "example:duncan-roehrig-4x4"})
session.save(history)
print("saved", flush=True)
time.sleep(600)
"""


def test_a_killed_program_is_offered_and_a_running_one_is_not(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    with subprocess.Popen([sys.executable, "-c", CHILD, str(folder)], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None and child.stdout.readline() == b"saved\n"
        assert recovery.recoverable(folder) == []
        child.send_signal(signal.SIGKILL)
    (found,) = recovery.recoverable(folder)
    assert found.name == "Duncan and Roehrig's 4 x 4 table"
    assert found.load().project.original.domain.shape == (4, 4)
    found.discard()
    assert recovery.recoverable(folder) == [] and list(folder.iterdir()) == []


def test_a_session_saves_what_changed_and_leaves_nothing(history: History, tmp_path: Path) -> None:
    session = recovery.Session(tmp_path / "a" / "b")
    assert not session.save(History())
    assert session.save(history) and not session.save(history)
    assert session.path.stat().st_mode & 0o077 == 0
    same(history.project, storage.load(session.path).project)
    session.close()
    assert list((tmp_path / "a" / "b").iterdir()) == []
    assert recovery.recoverable(tmp_path / "nowhere") == []


def test_design_weights_come_back_and_go_with_the_counts(tmp_path: Path) -> None:
    records = tmp_path / "r.csv"
    records.write_text("a,w\nx,2.5\ny,1\nx,3\n")
    given_ = {"source": str(records), "by": ["a"], "design_weight": "w"}
    history, _ = History().apply("tabulate", given_)
    storage.save(history, tmp_path / "p.tabprotect")
    weights = storage.load(tmp_path / "p.tabprotect").project.weights
    assert weights is not None and (weights.low, weights.high) == (1_000_000, 3_000_000)
    assert weights.sums.counts.tolist() == [5_500_000, 1_000_000]
    edited, _ = history.apply("set_count", {"index": [0], "count": 9})
    assert edited.project.weights is None and edited.project.problem.weights is None
    assert edited.undo()[0].project.weights is not None
