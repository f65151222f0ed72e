"""The command line is told of its commands before it loads any of them."""

from __future__ import annotations

import importlib
import json
import shlex
import subprocess
import sys

import pytest

from tabprotect.cli.verbs import FAMILIES, Command, whole


def every_command() -> list[Command]:
    """The commands of every family."""
    modules = [
        importlib.import_module(f"tabprotect.cli.{family}") for family in sorted(set(FAMILIES.values()))
    ]
    return [one for module in modules for one in vars(module).values() if isinstance(one, Command)]


LOADED = """
import json, sys
from tabprotect.cli.main import main
code = main({arguments!r})
print(json.dumps([code, sorted(sys.modules)]))
"""


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["nonsense"], ["cycles"]])
def test_no_command_is_loaded_to_speak_of_it(arguments: list[str]) -> None:
    script = LOADED.format(arguments=arguments)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    code, modules = json.loads(done.stdout.splitlines()[-1])
    assert code == (0 if arguments[0].startswith("--") else 2)
    if arguments == ["cycles"]:
        # Its own family it must know; no other.
        assert "tabprotect.cli.protecting.cycles" in modules and "tabprotect.cli.reader.infer" not in modules
        return
    own = {name for name in modules if name.startswith("tabprotect")}
    assert {name for name in own if ".engine" in name} <= {
        f"tabprotect.engine{name}" for name in ("", ".plain_values", ".plain_values.encoding", ".errors")
    }
    assert not {f"tabprotect.cli.{family}" for family in FAMILIES.values()} & own
    assert not {"numpy", "scipy", "duckdb", "sqlalchemy"} & set(modules)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_command_is_declared_where_it_is_listed(name: str) -> None:
    with pytest.raises(SystemExit):
        whole(name).parse_args([name, "--help"])


@pytest.mark.parametrize("command", every_command(), ids=lambda command: command.name)
def test_an_example_is_a_command_line(command: Command) -> None:
    words = shlex.split(command.example)
    assert words[0] == "tabprotect" and " ".join(words[1:]).startswith(command.name)
    args = whole(words[1]).parse_args(words[1:])
    assert args.run == command.run


def test_help_names_every_command_whichever_is_loaded() -> None:
    texts = {whole(chosen).format_help() for chosen in (None, "cycles", "infer", "nonsense")}
    assert len(texts) == 1


def test_help_shows_a_sign_of_per_cent_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["export"], ["protect"]):
        with pytest.raises(SystemExit):
            whole(words[0]).parse_args([*words, "--help"])
    shown = capsys.readouterr().out
    assert "with 90 %" in shown and "(1.7%)" in shown and "%%" not in shown
