"""Paths of every command: what the system refuses is said in its words, and a rehearsal writes none."""

from __future__ import annotations

import argparse
import errno
import io
import itertools
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from tabprotect.cli.main import main
from tabprotect.cli.verbs import COMMANDS, whole

Run = Callable[..., Any]

TABLE = "t.csv"
GIVEN: Mapping[str, Mapping[str, str]] = {
    "analyse": {"releases": "r.zip"},
    "attack": {"targets": "t.csv", "--method": "random_rounding"},
    "batch": {"jobs": "jobs", "--out": "new"},
    "bounds": {"table": TABLE, "--release": "v"},
    "check": {"table": TABLE},
    "compare": {"table": TABLE, "--run": "random_rounding", "--runs-per-method": "2"},
    "convert": {"table": TABLE, "--out": "new.csv"},
    "count-tables": {},
    "cycles check": {"cycles": "c.json", "--table": TABLE},
    "cycles design": {"--table": TABLE},
    "describe": {"table": TABLE},
    "difference": {"old": "t.csv", "new": "t.csv"},
    "dossier encrypt": {"dossier": "d.zip", "--key": "secret.key", "--out": "new.zip"},
    "dossier open": {"dossier": "sealed.zip", "--key": "secret.key", "--out": "new.zip"},
    "dossier retention": {},
    "draw": {"releases": "r.zip", "--format": "csv", "--out": "new.csv"},
    "export": {"release": "r.zip", "--out": "new.csv"},
    "frontier": {"table": TABLE, "--release": "v"},
    "infer": {"releases": "r.zip"},
    "keys house": {"--rotate": ""},
    "keys new": {"--out": "k"},
    "optimal": {"table": TABLE},
    "page": {"release": "r.zip", "--out": "new.html"},
    "protect": {"table": TABLE, "--method": "random_rounding", "--out": "new.zip", "--accept": "a try"},
    "protect-set": {"source": "people.csv", "--table": "t=v*w", "--out": "new"},
    "ptable": {"--D": "3", "--V": "1"},
    "record-keys": {"microdata": "people.csv", "--out": "new.csv"},
    "register check": {"table": TABLE},
    "register list": {},
    "register new": {"place": "new.sqlite"},
    "register show": {"which": "1"},
    "register withdraw": {"which": "1", "--reason": "a try"},
    "report": {"sources": "d.zip", "--out": "new.html", "--edition": "staff"},
    "restore": {"published": TABLE},
    "rules": {"table": "m.parquet", "--rule": "p=10"},
    "run": {"recipe": "recipe.toml", "--out": "new"},
    "selftest": {"--only": "format csv", "--out": "new.html"},
    "serve": {"source": "example:langsrud-lupp"},
    "serve-session": {"--table": TABLE, "--at-risk": "1..30", "database": "new.sqlite"},
    "tabulate": {"microdata": "people.csv", "--by": "v,w", "--out": "new.csv"},
    "verify": {"release": "r.zip"},
    "widths": {"table": TABLE},
    "accounts add": {"name": "ann", "--database": "new.sqlite"},
    "accounts list": {"--database": "new.sqlite"},
    "accounts withdraw": {"name": "ann", "--database": "accounts.sqlite"},
}
"""What each command takes so that nothing but the path under test is wrong."""

PATHS = {
    *(
        "FILE",
        "FOLDER",
        "DIR",
        "KEY",
        "KEYED",
        "TABLE",
        "SOURCE",
        "JOBS",
        "PUBLISHED",
        "OLD",
        "NEW",
        "PUBLIC",
    ),
    *("TEXT|FILE", "FILE|URL", "FILE|URL|none", "NAME|TABLE", "URL", "DB_URL", "FILE|BUNDLE.zip"),
}
"""How help names a path, beside all that is declared as one."""

NEITHER = {("convert", "--to"), ("attack", "--groupings"), ("attack", "--register")}
"""An address on the network, a text, and what goes without a file: ``register list`` has the same path."""


def declared(command: argparse.ArgumentParser, name: str) -> Iterator[tuple[str, str]]:
    """Every path that a command takes, by its command and its name."""
    for action in command._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below, its in action.choices.items():
                if its is not command:  # What stands in the overview alone has no parser of its own.
                    yield from declared(its, f"{name} {below}".strip())
        elif action.type is Path or str(action.metavar) in PATHS or action.dest in ("policy", "microdata"):
            yield name, (action.option_strings or [action.dest])[-1]


EVERY = [
    one
    for commands in COMMANDS.values()
    for command in commands
    # It opens a window, which says what it cannot open there.
    if command != "open"
    for one in declared(whole(command), "")
    if one[0].split()[0] == command and one not in NEITHER
]


def test_every_path_is_found_and_every_command_has_a_line() -> None:
    assert {command for command, _ in EVERY} == set(GIVEN)
    assert len(EVERY) > 100


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which every name that stands above is there."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "t.csv").write_text("v,w,count\na,x,21\na,y,30\nb,x,42\nb,y,51\n")
    (folder / "people.csv").write_text("v,w\n" + "a,x\na,y\nb,x\nb,y\n" * 9)
    (folder / "firms.csv").write_text("v,w,x\na,p,1\na,q,2\nb,r,3\n")
    (folder / "secret.key").write_text("a long passphrase\n")
    (folder / "loop").symlink_to("loop")
    with pytest.MonkeyPatch.context() as at:
        at.chdir(folder)
        at.setenv("TABPROTECT_HOME", str(folder / "house"))
        for words in (
            "protect t.csv --method random_rounding --out r.zip --dossier d.zip --accept try",
            "cycles design --shape 2,2 --out c.json",
            "tabulate firms.csv --by v --unit w --measure x --out m.parquet",
            "accounts add ann --database accounts.sqlite",
            "dossier encrypt d.zip --key secret.key --out sealed.zip",
        ):
            main(words.split())
    (folder / "jobs").mkdir()
    with zipfile.ZipFile(folder / "d.zip") as dossier:
        recipe = dossier.read("CONFIDENTIAL/recipe.toml")
    for place in (folder, folder / "jobs"):
        (place / "recipe.toml").write_bytes(recipe)
    return folder


ANSWERED_ELSEWHERE = {"--metadata", "--reading", "--groupings", "--like", "--originals"}
"""Whether these belong to a table is said by what reads it, and not everywhere before it is looked for."""

BAD = ("x" * 300, "loop/x.csv")
"""A name that is too long, and one below a link to itself: refused to the administrator, too."""


@pytest.mark.parametrize(
    ("command", "name", "bad"),
    [(*one, bad) for one, bad in zip(EVERY, itertools.cycle(BAD), strict=False)],
    ids=[" ".join(one) for one in EVERY],
)
def test_what_the_system_refuses_is_said(
    run: Run, files: Path, monkeypatch: pytest.MonkeyPatch, command: str, name: str, bad: str
) -> None:
    monkeypatch.chdir(files)
    given = {**GIVEN[command], name: bad}
    if name == "--service":
        # It names the table itself.
        del given["source"]
    # A server hands its settings to its workers by the environment.
    with patch.dict(os.environ):
        found = run(*words_of(command, given))
    assert "internal error" not in found.err
    # An option that does not go with the rest is refused by its name.
    if name in ANSWERED_ELSEWHERE:
        return
    assert (found.code == 3 and Path(bad).parts[0] in found.err) or (
        # What a job of a batch is refused for stands in its summary.
        found.code in (2, 4) and (name in found.err or f"{name.strip('-')}: " in found.out)
    ), found


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="there is no such file")
def test_a_file_whose_disk_reports_a_fault(run: Run) -> None:
    found = run("convert", "/proc/self/mem", "--out", "-")
    assert found.code == 3 and "Input/output error" in found.err


def test_a_folder_that_was_removed(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    for words in (("protect", "t.csv", "--out", tmp_path / "x.zip"), ("convert", TABLE, "--out", "x.csv")):
        found = run(*words)
        assert (found.code == 3 and "No such file" in found.err) or "no such file" in found.err, found


def test_a_folder_that_one_may_not_enter(
    run: Run, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the system answers everybody but its administrator, who may run the tests."""
    shut = str(tmp_path / "shut")

    def refused(path: Any, *more: Any, ask: Callable[..., Any], **named: Any) -> Any:
        if str(path).startswith(shut):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return ask(path, *more, **named)

    monkeypatch.chdir(files)
    for module, name in ((os, "stat"), (io, "open")):
        monkeypatch.setattr(module, name, partial(refused, ask=getattr(module, name)))
    for words in (
        ("protect", f"{shut}/x.csv", "--out", "z.zip"),
        ("verify", f"{shut}/r.zip"),
        ("infer", f"{shut}/r.zip"),
        ("report", f"{shut}/r.zip", "--edition", "public", "--out", "z.html"),
        ("export", f"{shut}/r.zip", "--out", "z.csv"),
        ("check", f"{shut}/t.csv"),
        ("register", "list", "--register", f"{shut}/register.sqlite"),
    ):
        found = run(*words)
        assert found.code == 3 and "Permission denied" in found.err, (words, found)


def words_of(command: str, given: Mapping[str, str]) -> list[str]:
    """A command line: what stands by its place goes before options."""
    words = [value for key, value in given.items() if key[:2] != "--"]
    words += [word for key, value in given.items() if key[:2] == "--" for word in (key, value) if word]
    return [*command.split(), *words]


OUT = {
    "attack": {"--out": "new.html"},
    "check": {"--out": "new.json"},
    "cycles design": {"--out": "new.json"},
    "infer": {"--out": "new.csv", "--format": "csv"},
}
"""Where a command writes that need not; the others a CSV file."""


def writing(command: argparse.ArgumentParser, name: str) -> Iterator[tuple[str, bool]]:
    """Every command that can be rehearsed, and whether it takes ``--out``."""
    if "--dry-run" in command._option_string_actions:
        yield name, "--out" in command._option_string_actions
    for action in command._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below, its in action.choices.items():
                if its is not command:
                    yield from writing(its, f"{name} {below}".strip())


WRITING = [
    one
    for commands in COMMANDS.values()
    for command in commands
    for one in writing(whole(command), "")
    if one[0].split()[0] == command
]


def kept(place: Path) -> dict[Path, bytes | None]:
    """All that lies in a folder."""
    return {path: path.read_bytes() if path.is_file() else None for path in place.rglob("*")}


@pytest.mark.parametrize(("command", "to_file"), WRITING, ids=[name for name, _ in WRITING])
def test_a_rehearsal_keeps_nothing_and_names_what_will_be_written(
    run: Run, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, to_file: bool
) -> None:
    place = tmp_path / "place"
    shutil.copytree(files, place, symlinks=True)
    monkeypatch.chdir(place)
    monkeypatch.setenv("TABPROTECT_HOME", str(place / "house"))
    given = {**(OUT.get(command, {"--out": "new.csv"}) if to_file else {}), **GIVEN[command]}
    words, before = words_of(command, given), kept(place)
    rehearsed = run(*words, "--dry-run", "--json")
    assert kept(place) == before, rehearsed
    assert rehearsed.json["dry_run"] is True
    done = run(*words, "--json")
    assert done.code == rehearsed.code == 0, (rehearsed, done)
    after = kept(place)
    changed = {str(path) for path, data in after.items() if data is not None and before.get(path) != data}
    named = {one["file"] for one in rehearsed.json["would_write"]}
    # A database that is there already is changed, and not written anew.
    there = {str(place / "house" / "register.sqlite"), str(place / "accounts.sqlite")}
    assert changed - there == named
