"""What people expect of any command line: help, letters, two lines for a mistake, remedies to paste."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabprotect as tp
from tabprotect.cli.output import Console
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.progress import Announced, foretold
from tabprotect.engine.project.recipes.replay import run_file
from tabprotect.engine.protection.rounding.controlled_programme import ControlledProgramme
from tabprotect.engine.protection.subtables import publication_of
from tabprotect.engine.solver import TableProgramme
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

Run = Callable[..., Any]

EXAMPLE = "for example: tabprotect protect example:duncan-roehrig-4x4 --method cyclic_perturbation --out release.zip"

MISTAKES = [
    ("protect example:duncan-roehrig-4x4 --output x.zip", "did you mean --out?"),
    ("protect example:duncan-roehrig-4x4 --out x.zip --methd cell_key", "did you mean --method?"),
    ("verify r.zip --jsn", "did you mean --json?"),
    ("protcet example:duncan-roehrig-4x4", "did you mean protect?"),
    ("register lst", "did you mean list?"),
    ("report r.zip --out r.html --edition pblic", "did you mean public?"),
    ("register", "tabprotect register --help says what it takes"),
    ("help nonsense", "tabprotect --help says what it takes"),
    ("protect", EXAMPLE),
    ("protect example:duncan-roehrig-4x4", EXAMPLE),
    ("describe cellkey", "did you mean cell_key or cell_keys or cells? 'tabprotect describe' lists all"),
    ("describe xyzzyq", "'tabprotect describe' lists all"),
    ("describe risk_fbta", "did you mean risk_fbeta or risk_recall? 'tabprotect describe' lists all"),
    ("verify r.zip other.zip more.zip", "tabprotect verify --help says what it takes"),
    ("convert example:duncan --out t.csv", "did you mean duncan-roehrig-4x4?"),
    ("convert example:czech-autoworker --out t.csv", "did you mean czech-autoworkers?"),
]


@pytest.mark.parametrize(("line", "hint"), MISTAKES, ids=[line for line, _ in MISTAKES])
def test_a_mistake_is_told_in_two_lines(run: Run, line: str, hint: str) -> None:
    found = run(*shlex.split(line))
    fault, remedy = found.err.splitlines()
    assert found.code in (2, 3, 4) and fault.startswith("error: ") and remedy == f"hint: {hint}"


@pytest.mark.parametrize("command", ["", "protect", "register withdraw"])
def test_help_is_a_command_too(run: Run, command: str) -> None:
    words = command.split()
    assert run("help", *words) == run(*words, "--help")


def test_quiet_and_verbose(run: Run, tmp_path: Path) -> None:
    words = ("convert", "example:czech-autoworkers", "-o", tmp_path / "t.csv")
    plain, quiet, verbose = run(*words), run(*words, "-q"), run(*words, "-v")
    assert plain.out == quiet.out == verbose.out and plain.code == 0
    assert quiet.err == "" and len(verbose.err.splitlines()) > len(plain.err.splitlines())
    noted = ("verify", tmp_path / "t.csv")
    assert run(*noted, "-q").err == run(*noted).err != ""


def test_warnings_are_said_however_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console(as_json=False, quiet=True)
    console.say("a remark")
    console.warn("a warning")
    assert capsys.readouterr().err == "a warning\n"


def test_what_takes_long_is_said_where_no_line_shows_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    console = Console(as_json=True)
    for seconds in range(25):
        now[0] = seconds
        console.report("adjusting the table", 0.0)
    said = [f"adjusting the table: {seconds} s so far" for seconds in (5, 10, 20)]
    assert capsys.readouterr().err.splitlines() == said
    # A search that has done a quarter of its nodes in 9 seconds takes 27 more at most.
    console = Console(as_json=True)
    console.report("solving", 0.0)
    now[0] += 9.0
    console.report("solving", 0.25)
    assert capsys.readouterr().err == "solving: 9 s so far, at most about 27 s to go\n"
    now[0] = 0.0
    quiet = Console(as_json=False, quiet=True)
    now[0] = 99.0
    quiet.report("adjusting the table", 0.0)
    assert capsys.readouterr().err == ""


def test_a_long_search_says_how_long_before_it_starts(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class NotSolvedError(Exception):
        pass

    def solve(*_: object) -> None:
        # What is said by now is said before.
        raise NotSolvedError

    monkeypatch.setattr(TableProgramme, "_run_apart", solve)
    monkeypatch.setattr("highspy.Highs.run", solve)
    said = {}
    for name, shape in (("small", (3, 4, 3)), ("large", (6, 4, 3, 3, 3))):
        table = Table.dense(Domain.of_shape(shape), np.arange(1, np.prod(shape) + 1).reshape(shape) % 7)
        publication = publication_of(table.domain, {"margins": None, "groupings": None})
        for how in ({"as_json": True}, {"as_json": False, "quiet": True}):
            with pytest.raises(NotSolvedError):
                ControlledProgramme(table, publication, 5).nearest(Console(**how))
            out, said[name, how["as_json"]] = capsys.readouterr()
            assert out == ""
    assert said["small", True] == said["small", False] == said["large", False] == ""
    assert re.fullmatch(
        r"rounding [0-9,]+ counts in [0-9,]+ sums, at most 100 nodes: this takes about [0-9]+ to [0-9]+ s; "
        r"Ctrl\+C stops it\n",
        said["large", True],
    )


def test_how_long_is_said_once_and_of_the_whole(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console(as_json=False, show_progress=False)
    whole = Announced(console, 70.0, 800.0)
    for _ in range(3):
        console.report(foretold("rounding", 2.0, 38.0), 0.0)
        console.report(foretold("rounding", 0.1, 4.9), 0.0)
        whole.report(foretold("rounding", 2.0, 39.0), 0.0)
    assert capsys.readouterr().err.splitlines() == [
        "rounding: this takes about 2 to 40 s; Ctrl+C stops it",
        "rounding: this takes about 1 to 13 min; Ctrl+C stops it",
    ]


@pytest.mark.parametrize(
    ("policy", "more", "remedy"),
    [
        ("signatures = 2", "", "--prepared-by NAME --approved-by NAME"),
        ('second_release = "reason"\ntogether = "warn"', f"--seed {'1234567890' * 4}", "--again REASON"),
        ("", "--seed 7", ""),
    ],
)
def test_a_refusal_that_is_no_setting_has_commands_too(
    run: Run, tmp_path: Path, short_seeds: int, policy: str, more: str, remedy: str
) -> None:
    """In the error for people as for programs; the words that are missing are not filled in."""
    (tmp_path / "policy.toml").write_text(policy)
    words = ["protect", "example:duncan-roehrig-4x4", "--no-page", "-o", str(tmp_path / "r.zip")]
    if "second_release" in policy:
        assert run(*words).code == 0
    words += [*more.split(), *(["--policy", str(tmp_path / "policy.toml")] if policy else [])]
    refused = run(*words, "--json")
    assert refused.code == 5, refused
    commands = refused.json["error"]["suggestions"]
    assert all(f"  {command}" in refused.err.splitlines() for command in commands)
    if remedy:
        assert commands[-1].endswith(remedy)
        assert run(*shlex.split(commands[-1])[1:]).code != 0
        stated = remedy.replace("--approved-by NAME", "--approved-by bob").replace("NAME", "ann")
        stated = stated.replace("REASON", "'a better title'")
        assert run(*words, *shlex.split(stated)).code == 0
    else:
        assert "--seed" not in commands[0]
        assert run(*shlex.split(commands[0])[1:]).code == 0


def test_a_reason_is_in_own_words_in_every_shell(run: Run, tmp_path: Path) -> None:
    said = "REASON stands for a reason in your own words"
    words = ("protect", "example:duncan-roehrig-4x4", "-o", tmp_path / "r.zip")
    for option in ("--accept", "--again"):
        assert said in run(*words, option, "reason").err
    assert "expected one argument" in run(*words, "--accept").err
    assert "a reason is missing" in run(*words, "--accept", " ").err
    table = tp.read_table("example:duncan-roehrig-4x4")
    with pytest.raises(ParameterError, match=said):
        tp.protect(table, "cell_key", accept="REASON")
    (tmp_path / "recipe.toml").write_text(
        'recipe = 1\n[[step]]\ndo = "open_table"\nsource = "example:duncan-roehrig-4x4"\n'
        '[[step]]\ndo = "protect"\naccept = "REASON"\n'
    )
    with pytest.raises(ParameterError, match=said):
        run_file(tmp_path / "recipe.toml", tmp_path / "out")


def test_confidential_files_where_versions_are_kept_are_remarked(run: Run, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    said = "is under version control"
    table = ("convert", "example:czech-autoworkers", "-o", tmp_path / "sub" / "t.csv")
    (tmp_path / "sub").mkdir()
    assert said in run(*table).err
    protected = ("protect", "example:duncan-roehrig-4x4", "-o", tmp_path / "r.zip", "--register", "none")
    dossier = ("--dossier", tmp_path / "CONFIDENTIAL-d.zip")
    assert said not in run(*protected).err
    assert said in run(*protected, *dossier).err
    (tmp_path / ".gitignore").write_text("CONFIDENTIAL-*\n/t.csv\n")
    assert said not in run(*protected, *dossier).err + run(*table).err


@pytest.mark.parametrize(
    ("name", "taken"), [("CON.csv", False), ("a:b.csv", False), (" t.csv", False), ("console.csv", True)]
)
def test_names_that_windows_does_not_take_are_remarked(
    run: Run, tmp_path: Path, name: str, taken: bool
) -> None:
    said = run("convert", "example:czech-autoworkers", "-o", tmp_path / name)
    assert said.code == 0 and ("on Windows" in said.err) is not taken
