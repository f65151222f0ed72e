"""Pictures of the window, as a person would go: ``python take_pictures.py OUT``.

One window is driven without a display for the tutorials: it opens the example, looks, protects,
checks and publishes; then opens the bundle as its reader. After that, pictures that pages ask for
(``window_pictures.py``), each by a line of JSON: the page's folder and house, what is done there, and the
file to write.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import traceback
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["TABPROTECT_HOME"] = tempfile.mkdtemp(prefix="tabprotect-pictures-")
os.environ["TABPROTECT_LANGUAGE"] = "en"
os.environ["LOGNAME"] = "Karin Lund"
sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "packaging"))

from PySide6.QtWidgets import QWidget
from screenshots import KEY, settle

from tabprotect.engine.project.verbs.release_verbs import protect
from tabprotect.gui.base.document import Document
from tabprotect.gui.frame.app import EXAMPLE, application, speak_in_window
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.look.theme import THEME
from tabprotect.library.protection import Protection

NAMES = ("start", "table", "protect", "check", "release", "reader")
WIDE, TALL = 1180, 740


def take(window: MainWindow, out: Path, name: str) -> None:
    """Write a picture of the window as it is when nothing moves."""
    settle(window)
    if not window.grab().save(str(out / f"{name}.png")):
        raise SystemExit(f"cannot write {name}")


def opened() -> MainWindow:
    """A window with nothing in it."""
    window = MainWindow(Document())
    window.resize(WIDE, TALL)
    window.show()
    return window


def tour(out: Path) -> None:
    """The pictures of the tutorials, drawn with the same key each time."""
    key = Path(os.environ["TABPROTECT_HOME"]) / "house.key"
    key.write_text(KEY, encoding="ascii")
    key.chmod(0o600)
    window = opened()
    take(window, out, "start")
    window.files.open(EXAMPLE)
    settle(window)
    window.document.select((0, 1))
    for name in NAMES[1:-1]:
        if name == "check":
            window.document.do(protect)
            settle(window)
        window.go(name)
        take(window, out, name)
    bundle = out / "release.zip"
    Protection(window.document.history, "pandas").publish(bundle)
    window.document.saved = window.document.project
    window.close()
    reader = opened()
    reader.files.open(str(bundle))
    settle(reader)
    reader.document.select((0, 1))
    reader.go("check")
    take(reader, out, "reader")
    bundle.unlink()
    reader.close()


def asked(folder: str, house: dict[str, str], code: str, out: str) -> None:
    """Do in a window of its own what a page says, and take it: ``window``, or what ``taken`` names."""
    os.chdir(folder)
    before = dict(os.environ)
    os.environ.update(house)
    window = opened()
    names: dict[str, object] = {"window": window, "settle": lambda: settle(window)}
    exec(compile(code, "<picture>", "exec"), names)
    settle(window)
    taken = names.get("taken", window)
    if not (isinstance(taken, QWidget) and taken.grab().save(out)):
        raise SystemExit(f"cannot write {out}")
    if taken is not window:
        taken.close()
    window.document.saved = window.document.project
    window.close()
    os.environ.clear()
    os.environ.update(before)


def main(out: Path) -> None:
    """Take the tour, then what is asked for, until nobody asks."""
    speak_in_window(application())
    THEME.apply(mode="light", zoom=1.0)
    tour(out)
    print("ready", flush=True)
    for line in sys.stdin:
        try:
            asked(**json.loads(line))
        except Exception:
            print(json.dumps(traceback.format_exc()), flush=True)
        else:
            print("taken", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
