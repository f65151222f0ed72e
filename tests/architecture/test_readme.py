"""What the README says of methods, exit codes and commands follows from the program."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tabprotect import version
from tabprotect.cli import main as command_line
from tabprotect.cli.reader.verify import NOT_WHOLE
from tabprotect.cli.verbs import whole
from tabprotect.engine import errors
from tabprotect.engine.protection.registered import methods

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
NUMBERS = {12: "Twelve", 13: "Thirteen", 14: "Fourteen", 15: "Fifteen", 16: "Sixteen"}
SHELL = "\n".join(re.findall(r"(?s)```sh\n(.*?)```", README))
COMMANDS = re.findall(r"(?m)(?:^|/bin/)tabprotect ([a-z][^\n&]*)", SHELL)


def test_the_number_of_methods_is_that_of_the_registry() -> None:
    others = [
        name
        for name, method in methods().items()
        if name != "cyclic_perturbation" and type(method).__module__.startswith("tabprotect.")
    ]
    assert f"{NUMBERS[len(others)]} other methods stand beside it" in README


def test_the_exit_codes_are_those_of_the_errors() -> None:
    stated = README.partition("Exit codes: ")[2].partition(".")[0]
    codes = {int(code) for code in re.findall(r"(?:^|,\s)(\d+) ", stated)}
    raised = {
        kind.exit_code
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.TabprotectError)
    }
    # 1 is a fault of the program's own.
    assert codes == {0, command_line.USAGE, NOT_WHOLE, *raised} - {command_line.INTERNAL}


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_parses(line: str) -> None:
    words = shlex.split(line)
    whole(words[0]).parse_args(words)


def test_commands_are_found_and_a_wrong_one_does_not_parse() -> None:
    assert len(COMMANDS) >= 14
    with pytest.raises(command_line.UsageError):
        whole("infer").parse_args(["infer", "release.zip", "--priors", "positive"])


def test_the_number_of_compiled_parts_is_that_of_the_program() -> None:
    stated = f"compiled: {len(version.KERNELS)} of {len(version.KERNELS)}"
    assert stated in README and stated in (ROOT / "resources/docs/site/install.md").read_text()
