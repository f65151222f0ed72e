"""What shells are told of the commands."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tabprotect.cli.verbs import FAMILIES
from tests.cli.conftest import Command


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "man"])
def test_every_command_is_completed(run: Command, shell: str) -> None:
    text = run("completion", shell).out
    assert all(name in text for name in FAMILIES)
    assert "total-code" in text.replace("\\-", "-")
    if shell in ("bash", "fish") and shutil.which(shell):
        subprocess.run([shell, "-n"], input=text, text=True, check=True)


def test_bash_completes(run: Command) -> None:
    script = run("completion", "bash").out
    ask = "COMP_WORDS=(tabprotect export --tot); COMP_CWORD=2; _tabprotect; echo ${COMPREPLY[@]}"
    found = subprocess.run(["bash"], input=f"{script}\n{ask}\n", text=True, capture_output=True)
    assert "--total-code" in found.stdout


def test_the_nearest_word_is_offered(run: Command) -> None:
    assert "'protect'" in run("protct").err or "protect" in run("protct").err
    assert "did you mean --total-code?" in run("export", "r.zip", "--out", "x", "--totalcode", "T").err
    found = run("protect", "example:duncan-roehrig-4x4", "--method", "supression", "--out", "r.zip")
    assert "did you mean suppression?" in found.err
    # What is wrong is not the option.
    missing = run("register", "--json").err
    assert "a command is missing" in missing and "did you mean" not in missing


def test_zsh_completes(run: Command) -> None:
    """Zsh reads the bash function in its own way: modifiers of ``${...}`` differ."""
    script = run("completion", "zsh").out
    assert "[@]:1:$((" in script
    if not shutil.which("zsh"):
        return
    ask = (
        "emulate sh; COMP_WORDS=(tabprotect convert --tole); COMP_CWORD=2; compgen() { echo $*; }; "
        "_tabprotect; echo ended"
    )
    body = "\n".join(line for line in script.splitlines() if not line.startswith("autoload"))
    body = body.replace("complete ", ": complete ")
    found = subprocess.run(
        ["zsh", "-f"], input=f"{body}\n{ask}\n", text=True, capture_output=True, timeout=60
    )
    assert "ended" in found.stdout and not found.stderr
