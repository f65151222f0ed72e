"""Many recipes at once: what is done stays done, each failure is said, no count leaves in a message."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tabprotect.engine.errors import Interrupted
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.recipes import batch
from tabprotect.engine.project.recipes.batch import STATE, JobOutcome, run_batch, worst_exit_code
from tabprotect.engine.project.recipes.batch_jobs import BatchJob

RECIPE = """recipe = 1
[variables]
source = "t.csv"
title = "Health"
[[step]]
do = "open_table"
source = "${source}"
[[step]]
do = "set_title"
title = "${title}"
[[step]]
do = "set_method"
method = "random_rounding"
[[step]]
do = "protect"
accept = "a test"
seed = 7
"""


@pytest.fixture
def jobs(tmp_path: Path) -> list[BatchJob]:
    recipe = tmp_path / "r.toml"
    recipe.write_text(RECIPE)
    (tmp_path / "t.csv").write_text("v,w,count\na,x,5\na,y,8\nb,x,9\nb,y,4\n")
    return [BatchJob("one", recipe), BatchJob("two", recipe, {"title": "Work"})]


def statuses(jobs: list[BatchJob], out: Path) -> dict[str, str]:
    return {outcome.job: outcome.status for outcome in run_batch(jobs, out)}


def test_a_job_has_its_folder_its_files_and_its_state(jobs: list[BatchJob], tmp_path: Path) -> None:
    (outcome,) = run_batch(jobs[:1], tmp_path / "out")
    assert (outcome.status, outcome.exit_code, outcome.message) == ("done", 0, "")
    folder = tmp_path / "out" / "one"
    assert {path.name for path in folder.iterdir()} == {*outcome.written, STATE}
    assert (folder / STATE).stat().st_mode & 0o077 == 0
    state = json.loads((folder / STATE).read_text())
    assert state["key"] == jobs[0].key() == outcome.key and state["written"]


def test_what_is_still_true_is_kept_and_nothing_else(jobs: list[BatchJob], tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert statuses(jobs, out) == {"one": "done", "two": "done"}
    assert statuses(jobs, out) == {"one": "kept", "two": "kept"}
    changed = [jobs[0], BatchJob("two", jobs[1].recipe, {"title": "Income"})]
    assert statuses(changed, out) == {"one": "kept", "two": "done"}
    written = json.loads((out / "one" / STATE).read_text())["written"][0]
    (out / "one" / written).unlink()
    assert statuses(changed, out) == {"one": "done", "two": "kept"}
    (out / "two" / STATE).write_text('{"job": "two"}')
    assert statuses(changed, out) == {"one": "kept", "two": "done"}
    with (tmp_path / "t.csv").open("a") as file:
        file.write("c,x,1\nc,y,2\n")
    assert statuses(changed, out) == {"one": "done", "two": "done"}


def test_a_failure_is_said_and_tried_again(jobs: list[BatchJob], tmp_path: Path) -> None:
    out = tmp_path / "out"
    bad = BatchJob("bad", jobs[0].recipe, {"source": "none.csv"})
    for _ in range(2):
        first, second = run_batch([bad, jobs[0]], out)
        assert first.status == "failed" and first.exit_code == 3 and "none.csv" in first.message
        assert not second.exit_code
    rows = list(csv.DictReader(io.StringIO((out / "summary.csv").read_text())))
    assert [(row["job"], row["status"]) for row in rows] == [("bad", "failed"), ("one", "kept")]
    assert "2 jobs, 1 failed" in (out / "summary.html").read_text()


def test_the_text_of_an_unforeseen_error_stays_inside(
    jobs: list[BatchJob], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ValueError("the count is 4711")

    monkeypatch.setattr(batch, "run_file", fails)
    (outcome,) = run_batch(jobs[:1], tmp_path / "out")
    assert (outcome.exit_code, outcome.message) == (1, "internal error: ValueError")
    for path in (tmp_path / "out").rglob("*.*"):
        assert "4711" not in path.read_text()


def test_what_was_done_before_a_batch_was_stopped_stays(jobs: list[BatchJob], tmp_path: Path) -> None:
    class Stopping(Progress):
        def report(self, stage: str, fraction: float, partial: object = None) -> None:
            if fraction >= 0.5:
                raise Interrupted

    out = tmp_path / "out"
    with pytest.raises(Interrupted):
        run_batch(jobs, out, progress=Stopping())
    assert not (out / "two").exists() and not (out / "summary.csv").exists()
    assert statuses(jobs, out) == {"one": "kept", "two": "done"}


def test_names_are_text_in_the_summary_for_people() -> None:
    page = batch._html([outcome(3, job="a <b>", message="x & y")])
    assert "a &lt;b&gt;" in page and "x &amp; y" in page and "<b>" not in page


def outcome(code: int, **more: str) -> JobOutcome:
    fields = dict.fromkeys(("job", "message", "key", "user", "host", "version", "started"), "")
    return JobOutcome(
        **{**fields, **more}, status="", exit_code=code, seconds=0.0, written=(), since_last_year=()
    )


@pytest.mark.parametrize(
    ("codes", "worst"), [((), 0), ((0, 0), 0), ((0, 3, 2), 3), ((5, 1, 3), 1), ((0, 1), 1)]
)
def test_an_internal_error_is_the_worst(codes: tuple[int, ...], worst: int) -> None:
    assert worst_exit_code([outcome(code) for code in codes]) == worst
