"""Pictures of the window for the tutorials: ``python take_pictures.py OUT``.

One window is driven without a display, as a person would go: it opens the example, looks, protects,
checks and publishes; then opens the bundle as its reader.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["TABPROTECT_HOME"] = tempfile.mkdtemp(prefix="tabprotect-pictures-")
os.environ["TABPROTECT_LANGUAGE"] = "en"
sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "packaging"))

from screenshots import SEED, settle

from tabprotect.engine.project.verbs.release_verbs import protect
from tabprotect.gui.base.document import Document
from tabprotect.gui.frame.app import EXAMPLE, application, speak_in_window
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.look.theme import THEME
from tabprotect.library.protection import Protection

NAMES = ("start", "table", "protect", "check", "release", "reader")
WIDE, TALL = 1180, 740


def take(window: MainWindow, out: Path, name: str) -> None:
    settle(window)
    if not window.grab().save(str(out / f"{name}.png")):
        raise SystemExit(f"cannot write {name}")


def main(out: Path) -> None:
    """Take all pictures."""
    speak_in_window(application())
    THEME.apply(mode="light", zoom=1.0)
    window = MainWindow(Document())
    window.resize(WIDE, TALL)
    window.show()
    take(window, out, "start")
    window.files.open(EXAMPLE)
    settle(window)
    window.document.select((0, 1))
    for name in NAMES[1:-1]:
        if name == "check":
            window.document.do(protect, seed=SEED, accept="an example has no secrets")
            settle(window)
        window.go(name)
        take(window, out, name)
    bundle = out / "release.zip"
    Protection(window.document.history, "pandas").publish(bundle)
    window.document.saved = window.document.project
    window.close()
    reader = MainWindow(Document())
    reader.resize(WIDE, TALL)
    reader.show()
    reader.files.open(str(bundle))
    settle(reader)
    reader.document.select((0, 1))
    reader.go("check")
    take(reader, out, "reader")
    bundle.unlink()
    reader.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
