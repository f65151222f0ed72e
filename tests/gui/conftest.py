"""The real main window, and what no test may leave behind: Qt warnings, threads, work."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partialmethod
from pathlib import Path

import pytest
from PySide6.QtCore import QtMsgType, qInstallMessageHandler
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tabprotect.cli.main import main
from tabprotect.engine.disclosure.choosing import method_trials
from tabprotect.engine.project.verbs.magnitude_verbs import set_rules
from tabprotect.gui.base import trying
from tabprotect.gui.base.document import Document
from tabprotect.gui.frame.app import application
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.look.theme import THEME

# Before any QApplication: tests need no display.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# pytest's importlib mode adds no folder: what the tests here share lies beside them.
sys.path.insert(0, str(Path(__file__).parent))

HARMLESS = (
    "This plugin does not support propagateSizeHints",
    "This plugin does not support raise()",
    "This plugin does not support grabbing the keyboard",
)
"""What the offscreen platform says of itself."""

from watchdog import Watchdog, pace  # noqa: E402 (beside this file, as said above)

Settle = Callable[[], None]


BUSY = 0.15
"""Processor seconds that the window's thread may work in one go.

The program's own limit is 0.1 s: a third of this is for what a test adds, whose pages were not
dressed in idle moments.
"""

SEVERAL = 2 * BUSY
"""What one line of a test may take that does several things in a row, a loop among them."""

AGAIN = "TABPROTECT_BUSY_AGAIN"
"""Set where a test is run a second time, alone, because the window's thread was busy too long."""

PATIENCE = 300_000
"""Milliseconds until what a test waits for does not come any more, on a machine busy elsewhere."""

LEAVING = 60.0
"""Seconds that a thread may take to end after its test."""


class PatientBot(QtBot):
    """Waits for what takes seconds on a quiet machine and minutes on a busy one."""

    waitUntil = partialmethod(QtBot.waitUntil, timeout=PATIENCE)  # noqa: N815 (Qt's case)
    waitSignal = partialmethod(QtBot.waitSignal, timeout=PATIENCE)  # noqa: N815 (Qt's case)
    waitExposed = partialmethod(QtBot.waitExposed, timeout=PATIENCE)  # noqa: N815 (Qt's case)


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:
    """The driver of all window tests; it closes the widgets that were added to it."""
    return PatientBot(request)


@pytest.fixture(scope="session")
def watchdog(qapp: QApplication) -> Iterator[Watchdog]:
    """One for all tests."""
    application()
    found = Watchdog()
    found.start()
    yield found
    found.end()


@pytest.fixture(autouse=True)
def responsive(watchdog: Watchdog, request: pytest.FixtureRequest) -> Iterator[None]:
    """A test in which the window's thread was busy for too long fails."""
    watchdog.forget()
    yield
    for found, limit in ((watchdog.longest, BUSY), (watchdog.longest_call, SEVERAL)):
        if folder := os.environ.get("BUSY"):
            name = f"{found.seconds:.2f} of {limit} {request.node.name[:80]}".replace("/", "|")
            Path(folder, name).write_text(found.where)
        # How fast the machine is now is asked only where it matters.
        free = found.seconds < limit or found.seconds < limit * pace() or _free_again(request)
        assert free, f"busy for {found.seconds:.2f} s:\n{found.where}"


def _free_again(request: pytest.FixtureRequest) -> bool:
    """Return True if the same test, alone in a process of its own, keeps to the limits.

    What a program works too long in one go, it works too long each time. A core that was taken
    away for a moment, which counts as the thread's own time, is not taken away at the same place.
    """
    if AGAIN in os.environ:
        return False
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:randomly"]
    command = [sys.executable, "-P", "-m", "pytest", *options, request.node.nodeid]
    root = request.config.rootpath
    again = subprocess.run(command, cwd=root, env=os.environ | {AGAIN: "1"}, capture_output=True, check=False)
    return again.returncode == 0


@pytest.fixture(autouse=True)
def clean(qapp: QApplication) -> Iterator[None]:
    """A Qt warning or a thread that outlives its test fails it."""
    said: list[str] = []

    def listen(kind: QtMsgType, context: object, message: str) -> None:
        if kind != QtMsgType.QtDebugMsg and not message.startswith(HARMLESS):
            said.append(message)

    before = qInstallMessageHandler(listen)
    threads = set(threading.enumerate())
    yield
    left = [t for t in threading.enumerate() if t not in threads]
    # One that has been told to end does so in its own time; it may wait for the window's thread.
    last = time.monotonic() + LEAVING
    while any(t.is_alive() for t in left) and time.monotonic() < last:
        qapp.processEvents()
        time.sleep(0.01)
    qInstallMessageHandler(before)
    stayed = [t.name for t in left if t.is_alive()]
    assert not stayed, f"threads left behind: {stayed}"
    assert not said, "\n".join(said)


@pytest.fixture(autouse=True)
def _few_draws(few_draws: None) -> None:
    """Pages ask for estimates whenever they are shown: seconds with as many draws as usual."""


@pytest.fixture(autouse=True)
def _no_trials(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every method is tried as soon as a table is open: that takes seconds, and is few tests' business."""
    if not {"few", "tries"} & set(request.fixturenames):
        monkeypatch.setattr(method_trials, "tried_methods", lambda *_: ())
        monkeypatch.setattr(trying, "_try_sums", lambda *_: ())


@pytest.fixture
def tries() -> None:
    """Methods are tried as they are for people."""


@pytest.fixture
def window(qtbot: QtBot, watchdog: Watchdog) -> Iterator[MainWindow]:
    """The window as it starts, in light colours."""
    application()
    THEME.apply(mode="light", zoom=1.0)
    window = MainWindow(Document())
    qtbot.addWidget(window)
    window.resize(1280, 720)
    with qtbot.waitExposed(window):
        window.show()
    # The first one of a process loads half the program: test_first_paint is about that.
    watchdog.forget()
    yield window
    window.document.saved = window.document.project
    window.close()


@pytest.fixture
def settle(window: MainWindow, qtbot: QtBot) -> Settle:
    """Wait until no job runs any more and what it brought is shown."""

    def wait() -> None:
        qtbot.waitUntil(lambda: not window.document.jobs.running)
        QApplication.processEvents()

    return wait


@pytest.fixture
def opened(window: MainWindow, settle: Settle) -> MainWindow:
    """The window with the 4 x 4 example on the table page."""
    window.files.open("example:duncan-roehrig-4x4")
    settle()
    return window


FIRMS = """nace,region,ent,turnover
10,N,Nordmetall,900
10,N,Sydow,60
10,N,Hansa,40
10,N,Brook,10
10,S,d,30
10,S,e,25
10,S,f,35
20,N,Sydow,70
20,N,g,66
20,N,h,64
20,S,i,12
20,S,k,11
20,S,l,14
"""


@pytest.fixture
def firms(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A file with a table of magnitudes: turnover by activity and region."""
    records, table = tmp_path / "firms.csv", tmp_path / "t.parquet"
    records.write_text(FIRMS)
    asked = ["--by", "nace,region", "--measure", "turnover", "--holding", "ent"]
    assert main(["tabulate", str(records), *asked, "--out", str(table)]) == 0
    return table


@pytest.fixture(params=["counts", "magnitudes"])
def measured(request: pytest.FixtureRequest, window: MainWindow, settle: Settle, firms: Path) -> MainWindow:
    """The window with a table of each measure, and its rule."""
    if request.param == "counts":
        window.files.open("example:duncan-roehrig-4x4")
    else:
        window.files.open(str(firms))
        settle()
        # What nothing judges is not told as safe.
        assert "no rule yet" in window.strip.facts and "unsafe" not in window.strip.facts
        window.document.do(set_rules, rules=["p=10"])
    settle()
    return window
