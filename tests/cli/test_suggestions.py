"""A refusal's remedies as command lines: they are run as they stand."""

from __future__ import annotations

import itertools
import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabprotect as tp
from tabprotect.cli.main import _with_settings
from tabprotect.engine.disclosure import refusals
from tabprotect.engine.errors import RefusedError
from tabprotect.engine.plain_values.encoding import as_json

Run = Callable[..., Any]

WEAK = ("--set", "alpha=0.3", "--set", "cycles=elementary", "--seed", "1")


def test_a_suggestion_is_a_command_that_can_be_run(run: Run, tmp_path: Path) -> None:
    words = ("protect", "example:czech-autoworkers", *WEAK, "--register", "none")
    refused = run(*words, "--out", tmp_path / "r.zip", "--json")
    error = refused.json["error"]
    assert refused.code == 5 and len(error["suggestions"]) == len(error["remedies"]) > 0
    for command, remedy in zip(error["suggestions"], error["remedies"], strict=True):
        program, *given = shlex.split(command)
        assert program == "tabprotect" and "--json" in given and str(tmp_path / "r.zip") in given
        settings = dict(text.split("=", 1) for o, text in itertools.pairwise(given) if o == "--set")
        changed = {n: str(v) for n, v in remedy["parameters"].items() if v is not None}
        assert changed.items() <= settings.items()
        # What is left open is not set.
        assert settings.keys() == ({"alpha", "cycles"} - remedy["parameters"].keys()) | changed.keys()
    # The best one leads somewhere: what may well be refused too is not offered.
    assert run(*shlex.split(error["suggestions"][0])[1:]).code == 0


@pytest.mark.parametrize(
    ("shape", "setting"),
    [((4, 3, 2), "cycles=elementary"), ((3, 3, 3), "cycles=elementary"), ((3, 3, 2), "blocking=any_zero")],
)
def test_every_command_that_is_printed_passes_as_it_is_printed(
    run: Run, tmp_path: Path, shape: tuple[int, ...], setting: str
) -> None:
    """Sparse tables of three and four ways whose cycles are refused; the benchmark follows more."""
    counts = np.random.default_rng(3).poisson(1.2, shape)
    lines = [",".join([*"abcd"[: len(shape)], "count"])]
    lines += [",".join(map(str, (*cell, count))) for cell, count in np.ndenumerate(counts)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    words = (tmp_path / "t.csv", "--set", setting, "--register", "none", "--json")
    refused = run("protect", *words, "--out", tmp_path / "r.zip", "--seed", "1234567890" * 4)
    commands = refused.json["error"]["suggestions"]
    assert refused.code == 5 and commands
    assert [run(*shlex.split(command)[1:]).code for command in commands] == [0] * len(commands)


def test_what_a_refusal_leaves_open_takes_a_reason(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A setting without chance is suggested with one; with chance, whatever is drawn would leave."""
    monkeypatch.setattr(refusals, "ONCE", 4)
    table = tmp_path / "own.csv"
    assert run("convert", "example:duncan-roehrig-4x4", "--out", table).code == 0
    words = ("protect", table, "--no-page", "--json")
    suppression = (*words, "--method", "suppression", "--set", "choice=cheapest", "--out", tmp_path / "s.zip")
    apart = run(*suppression, "--register", "none").json["error"]
    assert not any("--accept" in shlex.split(command) for command in apart["suggestions"])
    refused = run(*suppression).json["error"]
    assert "other settings take a reason, too" in refused["hint"]
    assert len(refused["suggestions"]) == len(apart["suggestions"]) > 0
    command = shlex.split(refused["suggestions"][0])
    assert command[command.index("--accept") + 1] == "REASON"
    # Nobody's reason is filled in.
    assert run(*command[1:]).code == 2
    left = run(*(word.replace("REASON", "agreed with the board") for word in command[1:]))
    assert left.code == 0 and set(left.json["verdict"]["left_out"]) <= {"attempts"}


@pytest.mark.parametrize(
    ("method", "choice"), [("controlled_tabular_adjustment", "nearest"), ("suppression", "cheapest")]
)
def test_an_example_is_refused_with_a_command_that_works(
    run: Run, tmp_path: Path, method: str, choice: str
) -> None:
    """What is refused of a table that everybody has tells nothing of it: nothing later takes a reason."""
    words = ("protect", "example:duncan-roehrig-4x4", "--method", method, "--no-page", "--json")
    words += ("--set", f"choice={choice}")
    assert run("register", "new", tmp_path / "r.sqlite").code == 0
    refused = run(*words, "--register", tmp_path / "r.sqlite", "--out", tmp_path / "r.zip")
    assert refused.code == 5
    command = shlex.split(refused.json["error"]["suggestions"][0])
    found = run(*command[1:])
    assert found.code == 0 and found.json["verdict"]["left_out"] == found.json["decisions"] == []


def test_what_is_infeasible_is_offered_another_method(run: Run, tmp_path: Path) -> None:
    words = ("protect", "example:czech-autoworkers", "--method", "controlled_rounding", "--no-page", "--json")
    words += ("--set", "choice=nearest")
    error = run(*words, "--out", tmp_path / "r.zip").json["error"]
    assert error["kind"] == "infeasible" and "contradict" in error["message"]
    (command,) = error["suggestions"]
    assert run(*shlex.split(command)[1:]).code == 0


def test_settings_are_replaced_however_they_are_written() -> None:
    given = ["protect", "t.csv", "--set=alpha=0.1", "--keep", "a*b", "--set", "passes=2", "--json"]
    given += ["--set", "height=4"]
    changed = {"alpha": 0.25, "keep": "a", "totals": True, "height": None, "cap": None}
    command = _with_settings(given, changed)
    assert shlex.split(command)[1:] == [
        *("protect", "t.csv", "--set", "passes=2", "--json"),
        *("--set", "alpha=0.25", "--set", "keep=a", "--set", "totals=yes"),
    ]


def test_another_method_takes_none_of_the_settings() -> None:
    for chosen in (["--method", "suppression"], ["--method=suppression"], []):
        given = ["protect", "t.csv", *chosen, "--set", "level=3", "--keep=a*b", "--json"]
        command = _with_settings(given, {"method": "cyclic_perturbation"})
        assert shlex.split(command)[1:] == [
            *("protect", "t.csv", "--json", "--method", "cyclic_perturbation")
        ]


def test_where_only_another_method_passes_its_command_is_one_that_runs(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    small = rng.random((60, 60)) < 0.27
    counts = np.where(small, rng.integers(1, 3, small.shape), rng.poisson(40, small.shape) + 3)
    lines = [f"a{i},b{j},{count}" for (i, j), count in np.ndenumerate(counts)]
    table = tmp_path / "table.csv"
    table.write_text("\n".join(["a,b,count", *lines]) + "\n", "utf-8")
    refused = run(
        *("protect", table, "--method", "suppression", "--set", "level=3", "--seed", "1"),
        *("--set", "choice=cheapest"),
        *("--register", "none", "--no-page", "--out", tmp_path / "r.zip", "--json"),
    )
    assert refused.code == 5
    (command,) = refused.json["error"]["suggestions"]
    assert "--set" not in command and "--method cyclic_perturbation" in command
    assert run(*shlex.split(command)[1:]).code == 0


def test_a_table_of_many_variables_is_offered_fewer_exact_sums(run: Run, tmp_path: Path) -> None:
    """Of 2^12 cells all sums over eleven variables leave a single cycle, which a zero blocks."""
    counts = np.random.default_rng(5).poisson(np.random.default_rng(6).gamma(0.5, 6, 2**12))
    names = [f"v {i}" for i in range(12)]
    lines = [",".join([*f"{cell:012b}", str(count)]) for cell, count in enumerate(counts)]
    table = tmp_path / "many.csv"
    table.write_text("\n".join([",".join([*names, "count"]), *lines]) + "\n", "utf-8")
    asked = ("protect", table, "--seed", "1", "--register", "none", "--out", tmp_path / "r.zip", "--json")
    refused = run(*asked, "--set", "blocking=negative")
    error = refused.json["error"]
    assert refused.code == 5 and error["remedies"][0]["parameters"]["keep"].count("+") == 11
    assert run(*shlex.split(error["suggestions"][0])[1:]).code == 0


def test_what_has_no_remedy_suggests_nothing(run: Run, tmp_path: Path) -> None:
    error = run("protect", tmp_path / "none.csv", "--out", tmp_path / "r.zip", "--json").json
    assert error["error"]["suggestions"] == []


def test_the_library_carries_the_same(house_folder: Path) -> None:
    table = tp.read_table("example:czech-autoworkers")
    with pytest.raises(RefusedError) as refused:
        tp.protect(table, "cyclic_perturbation", cycles="elementary", alpha=0.3, seed=1)
    found = json.loads(json.dumps(as_json(refused.value)))
    assert len(found["suggestions"]) == len(refused.value.suggestions) > 0
    assert all(
        command.startswith("tabprotect protect example:czech-autoworkers --method ")
        for command in found["suggestions"]
    )


def test_what_goes_wrong_on_an_ordinary_day_has_a_remedy(run: Run, tmp_path: Path) -> None:
    """The wrong file, a folder, a damaged bundle, a missing folder, options that exclude each other."""
    table, bundle, dossier = "example:duncan-roehrig-4x4", tmp_path / "r.zip", tmp_path / "d-CONFIDENTIAL.zip"
    words = (
        "--method",
        "random_rounding",
        "--set",
        "base=5",
        "--seed",
        "1",
        "--accept",
        "a test",
        "--no-page",
    )
    assert run("protect", table, *words, "--out", bundle, "--dossier", dossier).code == 0
    (tmp_path / "text.zip").write_text("no zip")
    (tmp_path / "cut.zip").write_bytes(bundle.read_bytes()[:-100] + bytes(100))
    made = tmp_path / "new folder"
    for asked, code, remedy in (
        (("verify", tmp_path / "text.zip"), 6, "tabprotect describe FILE"),
        (("verify", tmp_path / "cut.zip"), 6, "tabprotect describe FILE"),
        (("infer", tmp_path), 3, str(bundle.parent)),
        (("infer", tmp_path / "none.zip"), 3, "check its name"),
        (("protect", table, *words, "--out", made / "x.zip"), 3, f"mkdir {shlex.quote(str(made))}"),
        (("protect", table, "--fresh", "--seed", "1", "--out", bundle), 2, "for example: tabprotect protect"),
        (("compare", table), 2, "for example: tabprotect compare"),
    ):
        found = run(*asked)
        assert found.code == code and "hint: " in found.err and remedy in found.err, (asked, found.err)
    subprocess.run(shlex.split(f"mkdir {shlex.quote(str(made))}"), check=True)
    assert run("protect", table, *words, "--out", made / "x.zip").code == 0
