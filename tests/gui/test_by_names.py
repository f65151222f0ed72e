"""The first release by a screen reader: the program itself, from the example to the bundle.

Under Xvfb, over AT-SPI, by roles and names alone; Debian's ``at-spi2-core`` and ``python3-pyatspi``
carry it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tabprotect.engine.bundle.verify import verify

PYTHON = "/usr/bin/python3"
"""Debian's own, for which ``pyatspi`` is packaged."""

SCREEN_READER = Path(__file__).parent / "screen_reader.py"

ANSWER = "> "
"""What the reader's lines begin with."""

EXAMPLE = "Duncan and Roehrig's 4 x 4 table"

START = """
import os, subprocess, sys
end, begin = os.pipe()
screen = subprocess.Popen(
    ["Xvfb", "-displayfd", str(begin), "-screen", "0", "1366x768x24", "-nolisten", "tcp"],
    pass_fds=[begin], stderr=subprocess.DEVNULL,
)
os.environ["DISPLAY"] = ":" + os.read(end, 16).decode().strip()
program = subprocess.Popen([sys.argv[1], "-m", "tabprotect"], stdin=subprocess.DEVNULL)
try:
    code = subprocess.run(sys.argv[2:], check=False).returncode
finally:
    for started in (program, screen):
        started.terminate()
        started.wait(20)
sys.exit(code)
"""
"""A screen, the program on it, and who listens, within one session bus."""


class Listener:
    """Somebody who hears the program and never sees it."""

    def __init__(self, home: Path) -> None:
        for needed in ("dbus-run-session", "Xvfb"):
            assert shutil.which(needed), f"install {needed} (packaging/apt-packages-test.txt)"
        environment = {
            **os.environ,
            "HOME": str(home),
            "TABPROTECT_HOME": str(home / "tp"),
            "QT_QPA_PLATFORM": "xcb",
            "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
            "LC_ALL": "C.UTF-8",
        }
        self._log = (home / "log").open("w+")
        self._reader = subprocess.Popen(
            [
                *("dbus-run-session", "--", sys.executable, "-c", START),
                *(sys.executable, PYTHON, str(SCREEN_READER)),
            ],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log,
            text=True, env=environment,
        )  # fmt: skip

    def __call__(self, order: str, *given: object) -> Any:
        """Have an order carried out; raises what the reader answers in its place."""
        assert self._reader.stdin is not None
        assert self._reader.stdout is not None
        print(json.dumps([order, *given]), file=self._reader.stdin, flush=True)
        # The session's own services write there too.
        line = next((line for line in self._reader.stdout if line.startswith(ANSWER)), "")
        if not line:
            self._log.seek(0)
            raise AssertionError(self._log.read())
        answer = json.loads(line.removeprefix(ANSWER))
        assert not isinstance(answer, dict), answer["error"]
        return answer

    def close(self) -> None:
        """End the reader, and with it all that was started for it."""
        assert self._reader.stdin is not None
        assert self._reader.stdout is not None
        self._reader.stdin.close()
        self._reader.wait(60)
        self._reader.stdout.close()
        self._log.close()


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[Listener]:
    found = Listener(tmp_path)
    yield found
    found.close()


def test_the_first_release_by_names_alone(listener: Listener, tmp_path: Path) -> None:
    nameless: list[str] = []

    def press(name: str, role: str = "push button") -> None:
        nameless.extend(listener("nameless"))
        listener("press", role, name)

    def sentence(page: str) -> str:
        listener("find", "filler", f"{page} page")
        return str(listener("description", "label", "In one sentence"))

    press(EXAMPLE)
    assert sentence("Proposal") == "Published as it is, a reader knows all 4."
    assert listener("cell", "Table of counts", 0, 1) == "1"
    assert listener("cell", "Table of counts: grand total", 0, 0) == "135"
    stage = listener("description", "label", "Confidentiality of what is shown")
    assert stage == "CONFIDENTIAL"
    listener("find", "push button", "Protect")
    assert listener("description", "label", "Fact 1") == "Every total stays exact."
    assert listener("description", "label", "Fact 3") == "A reader would know 0 of 4."
    press("Protect")
    listener("find", "table", "Result")
    press("As readers see it", "check box")
    published = [[int(listener("cell", "Result", row, column)) for column in range(4)] for row in range(4)]
    listener("find", "panel", "Ready. Readers would know 0 of\u2026")
    verdict = listener("description", "label", "The verdict")
    assert verdict == "Readers would know 0 of 4 small counts"
    press("All lines")
    press("How is this computed?", "check box")
    worked_out = listener("description", "label", "What readers work out")
    assert "would be sure of 0" in worked_out
    listener("write", "Prepared by, name", "Ada")
    listener("write", "File of the release bundle", str(tmp_path / "first.zip"))
    press("Publish\u2026")
    listener("find", "label", "This will be published.")
    press("Publish")
    assert listener("description", "label", "What was published").startswith("Published as first.zip on ")
    assert nameless == []
    released = verify(tmp_path / "first.zip").release.table
    assert released is not None
    assert released.counts.tolist() == published
