"""Running the command line inside the test's own process."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tabprotect.cli.main import main
from tabprotect.engine.disclosure.choosing import acceptance_probability


@dataclass(frozen=True)
class Outcome:
    """Exit code and both streams of one command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, which must be one JSON object and nothing else."""
        data = json.loads(self.out)
        assert isinstance(data, dict)
        return data


Command = Callable[..., Outcome]


@pytest.fixture(autouse=True)
def _few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    # What the gate will say is foreseen, and remedies are tried: seconds with as many as usual.
    for number in ("SYNTHETIC", "FEW"):
        monkeypatch.setattr(acceptance_probability, number, acceptance_probability.LEAST)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Command:
    """``run("protect", path, ...)``; the arguments become text."""

    def command(*words: object) -> Outcome:
        code = main([str(word) for word in words])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return command
