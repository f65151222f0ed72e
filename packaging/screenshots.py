"""Pictures of every page for the README: ``python packaging/screenshots.py OUT [SOURCE]``.

Drives the real window without a display: opens the example, protects it, walks through the pages in light and dark, in the house and in public.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# A house of its own: pictures leave nothing in anybody's register.
os.environ["TABPROTECT_HOME"] = tempfile.mkdtemp(prefix="tabprotect-pictures-")
os.environ["XDG_CONFIG_HOME"] = os.environ["HOME"] = os.environ["TABPROTECT_HOME"]

from PySide6.QtCore import QEventLoop, QTimer

from tabprotect.engine.project.verbs.compare_verbs import set_comparison
from tabprotect.engine.project.verbs.release_verbs import protect, set_method
from tabprotect.gui.base.document import Document
from tabprotect.gui.frame.app import EXAMPLE, application, speak_in_window
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.look.theme import THEME
from tabprotect.gui.pages.stages import PAGES
from tabprotect.languages.translation import set_language

KEY = hashlib.sha256(b"pictures").hexdigest()
"""The key of the house on the pictures, whose examples have no secrets: each walk draws the same."""

STAFF = "Karin Lund"
"""Who prepares the release on the pictures: nobody."""

COMPARED = (
    "cell_key D=3,5 V=2 js=1",
    "small_count_rounding base=3",
    "random_rounding base=3",
    "controlled_rounding base=3",
    "bootstrap",
)
"""Settings on the picture of the compare page."""


def settle(window: MainWindow, *, seconds: float = 120.0) -> None:
    """Wait until no job runs and everything is painted."""
    end = time.monotonic() + seconds
    # Pages wait a moment before they ask questions, so one quiet look is not enough.
    quiet = 0
    while quiet < 8 and time.monotonic() < end:
        # QTest's own waiting would hold the jobs up.
        loop = QEventLoop()
        QTimer.singleShot(50, loop.quit)
        loop.exec()
        quiet = 0 if window.document.jobs.running else quiet + 1


def take(window: MainWindow, path: Path) -> None:
    """Save a picture of the window."""
    settle(window)
    if not window.grab().save(str(path)):
        raise SystemExit(f"cannot write {path}")
    print(path)


def suppress(window: MainWindow) -> None:
    """Run a method with status letters."""
    window.document.do(set_method, method="suppression")
    window.document.do(protect, accept_weak=True)
    settle(window)


def compare(window: MainWindow) -> None:
    """Compare some methods, and protect again for the pages to come."""
    window.document.do(set_comparison, runs=list(COMPARED), runs_per_method=10)
    settle(window)
    window.page.main_action()
    settle(window)
    window.document.do(protect, accept_weak=True)


def place(name: str) -> int:
    """Where a page stands in the walk: set-ups before the run, what does other things last."""
    first = ("table", "protect", "cycles", "perturb", "check", "release")
    last = ("methods", "compare")
    return first.index(name) if name in first else 100 + (name in last) + (name == last[1])


def main() -> None:
    """Parse the command line and take all pictures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("source", nargs="?", default=EXAMPLE)
    parser.add_argument("--size", default="1280x800")
    parser.add_argument("--modes", default="light,dark")
    parser.add_argument("--zoom", type=float, default=1.0)
    parser.add_argument("--language", default="en")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    set_language(arguments.language)
    speak_in_window(application())
    # A house of its own: nothing has left it, and its key is nobody else's.
    os.environ["TABPROTECT_HOME"] = tempfile.mkdtemp()
    key = Path(os.environ["TABPROTECT_HOME"]) / "house.key"
    key.write_text(KEY, encoding="ascii")
    key.chmod(0o600)
    for mode in arguments.modes.split(","):
        THEME.apply(mode=mode, zoom=arguments.zoom)
        window = MainWindow(Document())
        # Whoever takes the pictures is nobody's business.
        window.document.preferences = replace(window.document.preferences, name=STAFF)
        window.resize(*map(int, arguments.size.split("x")))
        window.show()
        take(window, arguments.out / f"start-{mode}.png")
        window.files.open(arguments.source)
        settle(window)
        window.document.select((0, 1) + (0,) * (len(window.document.project.domain.shape) - 2))
        for name in sorted((page.name for page in PAGES), key=place):
            if name == "check":
                window.document.do(protect, accept_weak=True)
                settle(window)
            if name == "methods":
                suppress(window)
            window.go(name)
            if name == "compare":
                compare(window)
            take(window, arguments.out / f"{name}-{mode}.png")
            if name == "methods":
                window.document.undo()
                window.document.undo()
                settle(window)
        window.document.set_public(True)
        for page in PAGES:
            if not window.pages.why_not(page.name):
                window.go(page.name)
                take(window, arguments.out / f"{page.name}-public-{mode}.png")
        window.document.set_public(False)
        window.go("help")
        take(window, arguments.out / f"help-{mode}.png")
        window.document.saved = window.document.project
        window.close()


if __name__ == "__main__":
    main()
