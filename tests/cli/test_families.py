"""The command line is told of its commands before it loads any of them."""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys

import pytest

from tabprotect.cli.main import parser
from tabprotect.cli.verbs import FAMILIES, Parser, Verbs

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
    assert {name for name in own if ".engine" in name} <= {"tabprotect.engine", "tabprotect.engine.errors"}
    assert not {f"tabprotect.cli.{family}" for family in FAMILIES} & own
    assert not {"numpy", "scipy", "duckdb", "sqlalchemy"} & set(modules)


class _Recorded(Verbs):
    def __init__(self, known: dict[str, str]) -> None:
        super().__init__(Parser(), known)
        self.names: list[str] = []

    def mention(self, name: str, help: str = "") -> argparse.ArgumentParser:
        self.names.append(name)
        return super().mention(name, help)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_declares_the_commands_it_is_listed_with(family: str) -> None:
    verbs = _Recorded(dict(FAMILIES[family]))
    importlib.import_module(f"tabprotect.cli.{family}").add(verbs)
    assert verbs.names == list(FAMILIES[family])


def test_help_names_every_command_whichever_is_loaded() -> None:
    texts = {parser(chosen).format_help() for chosen in (None, "cycles", "infer", "nonsense")}
    assert len(texts) == 1
