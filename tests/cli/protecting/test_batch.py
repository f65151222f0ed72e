"""``batch``: what is done stays done, what failed is said, the worst job gives the exit code."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Command

RECIPE = """recipe = 1
[variables]
alpha = 0.25
[[step]]
do = "open_table"
source = "${source}"
[[step]]
do = "set_parameters"
alpha = "${alpha}"
[[step]]
do = "protect"
accept = "a test"
seed = 7
"""
JOBS = """recipe = "r.toml"
[set]
source = "t.csv"
[[job]]
name = "mild"
set = {alpha = 0.1}
[[job]]
name = "usual"
"""


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("r.toml").write_text(RECIPE)
    Path("jobs.toml").write_text(JOBS)
    Path("t.csv").write_text("v,w,count\na,x,5\na,y,8\nb,x,9\nb,y,4\n")


def statuses(run: Command, *words: object, code: int = 0) -> dict[str, str]:
    found = run("batch", *words, "--out", "out", "--json")
    assert found.code == code, found.err
    return {job["job"]: job["status"] for job in found.json["jobs"]}


def there(group: int) -> bool:
    """Whether a process of a group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL and process groups")
def test_resumed_after_a_kill(run: Command) -> None:
    names = [f"j{k}" for k in range(6)]
    listed = "".join(f'[[job]]\nname = "{name}"\n' for name in names)
    bad = '[[job]]\nname = "bad"\nset = {source = "none.csv"}\n'
    Path("jobs.toml").write_text(JOBS.partition("[[job]]")[0] + listed + bad)
    words = ["batch", "jobs.toml", "--out", "out", "--workers", "2"]
    batch = subprocess.Popen(
        [sys.executable, "-m", "tabprotect", *words],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    end = time.monotonic() + 300
    while not list(Path().glob("out/*/job.json")) and batch.poll() is None:
        assert time.monotonic() < end
        time.sleep(0.02)
    batch.kill()
    batch.wait()
    # Its workers end with it: nobody else writes where the next batch does.
    while there(batch.pid):
        assert time.monotonic() < end
        time.sleep(0.05)
    done = {path.parent.name for path in Path().glob("out/*/job.json")}
    found = statuses(run, "jobs.toml", "--workers", 1, code=3)
    assert found == {n: "kept" if n in done else "done" for n in names} | {"bad": "failed"}
    assert len({Path(f"out/{name}/release.zip").read_bytes() for name in names}) == 1
    assert len(list(csv.DictReader(Path("out/summary.csv").read_text().splitlines()))) == 7


def test_what_is_still_true_is_kept(run: Command) -> None:
    words = ("jobs.toml", "--workers", 1)
    assert statuses(run, *words) == {"mild": "done", "usual": "done"}
    first = Path("out/mild/release.zip").read_bytes()
    assert first != Path("out/usual/release.zip").read_bytes()
    # The state is written last.
    Path("out/usual/job.json").unlink()
    assert statuses(run, *words) == {"mild": "kept", "usual": "done"}
    Path("out/mild/release.zip").unlink()
    assert statuses(run, *words) == {"mild": "done", "usual": "kept"}
    assert Path("out/mild/release.zip").read_bytes() == first
    Path("jobs.toml").write_text(JOBS.replace("0.1", "0.2"))
    assert statuses(run, *words) == {"mild": "done", "usual": "kept"}
    Path("t.csv").write_text("v,w,count\na,x,5\na,y,8\nb,x,9\nb,y,14\n")
    assert statuses(run, *words) == {"mild": "done", "usual": "done"}


def test_the_summary_and_the_worst(run: Command) -> None:
    bad = '[[job]]\nname = "bad <b>"\nset = {source = "none.csv"}\n'
    Path("jobs.toml").write_text(JOBS + bad)
    assert run("batch", "jobs.toml", "--out", "out", "--workers", 1).code == 3
    Path("jobs.toml").write_text(JOBS + bad.replace(" <b>", ""))
    found = statuses(run, "jobs.toml", "--workers", 1, code=3)
    assert found == {"mild": "done", "usual": "done", "bad": "failed"}
    rows = list(csv.DictReader(Path("out/summary.csv").read_text().splitlines()))
    assert [row["exit_code"] for row in rows] == ["0", "0", "3"]
    assert "none.csv" in rows[2]["message"] and rows[0]["user"] and len(rows[0]["key"]) == 64
    page = Path("out/summary.html").read_text()
    assert "3 jobs, 1 failed" in page and page.count("<tr") == 4
    state = json.loads(Path("out/bad/job.json").read_text())
    assert state["exit_code"] == 3 and state["version"] and state["host"]


def test_in_processes_and_from_a_folder(run: Command) -> None:
    Path("recipes").mkdir()
    Path("recipes/year.toml").write_text(RECIPE)
    Path("u.csv").write_text("v,w,count\na,x,15\na,y,8\nb,x,9\nb,y,4\n")
    words = ("recipes", "--source", "t.csv", "--source", "u.csv", "--workers", 2)
    assert statuses(run, *words) == {"year-t": "done", "year-u": "done"}
    # The seed is the recipe's: a single run gives the same bytes.
    assert (
        run("run", "recipes/year.toml", "--set", f"source={Path('u.csv').absolute()}", "--out", "x").code == 0
    )
    assert Path("x/release.zip").read_bytes() == Path("out/year-u/release.zip").read_bytes()


def test_the_summary_tells_what_differs_from_last_year(run: Command) -> None:
    Path("r.toml").write_text(RECIPE.replace("[variables]", '[variables]\nsource = "t.csv"'))
    Path("u.csv").write_text("v,w,count\na,x,5\na,y,0\nb,x,900\nb,y,4\n")
    Path("jobs.toml").write_text(
        'recipe = "r.toml"\n[[job]]\nname = "same"\n[[job]]\nname = "next"\nset = {source = "u.csv"}\n'
    )
    assert statuses(run, "jobs.toml", "--workers", 1) == {"same": "done", "next": "done"}
    same, following = csv.DictReader(Path("out/summary.csv").read_text().splitlines())
    assert same["since_last_year"] == ""
    assert "total 26 -> 909" in following["since_last_year"]
    assert "0 empty cells are filled; emptied: 1 (at the finest level)" in following["since_last_year"]
    page = Path("out/summary.html").read_text()
    assert "total 26 -&gt; 909" in page and "(b, x): 9 -&gt; 900" in page
    # What was kept still tells it.
    assert statuses(run, "jobs.toml", "--workers", 1) == {"same": "kept", "next": "kept"}
    assert Path("out/summary.html").read_text().count("(b, x)") == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "there are no jobs"),
        ("[[job]]\nname = 'a'\n", "names no recipe"),
        (JOBS + "[[job]]\nname = 'mild'\n", "two jobs are named 'mild'"),
        ("recipe = 'r.toml'\n[[job]]\nname = '../x'\n", "cannot be named"),
        ("recipe = [", "not a valid list of jobs"),
    ],
)
def test_faults(run: Command, text: str, says: str) -> None:
    Path("jobs.toml").write_text(text)
    found = run("batch", "jobs.toml", "--out", "out")
    assert found.code == 3 and says in found.err
    assert not Path("out").exists()
