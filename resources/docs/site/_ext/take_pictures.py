"""Pictures of the window for tutorials and jobs: ``python take_pictures.py OUT``.

One window is driven without a display, as a person would go: it opens the example, looks, protects,
checks and publishes; then opens the bundle as its reader. Jobs show theirs with their own files.
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

from tabprotect.cli.main import main as shell
from tabprotect.engine.project.verbs.release_verbs import protect
from tabprotect.engine.project.verbs.sums_verbs import set_rules
from tabprotect.gui.base.document import Document
from tabprotect.gui.forms.reading.import_sheet import ImportSheet
from tabprotect.gui.frame.app import EXAMPLE, application, speak_in_window
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.look.theme import THEME
from tabprotect.gui.pages.attack.page import AttackPage
from tabprotect.library.protection import Protection

NAMES = ("start", "table", "protect", "check", "release", "reader")
WIDE, TALL = 1180, 740


def take(window: MainWindow, out: Path, name: str) -> None:
    settle(window)
    if not window.grab().save(str(out / f"{name}.png")):
        raise SystemExit(f"cannot write {name}")


def opened() -> MainWindow:
    """A window with nothing in it."""
    window = MainWindow(Document())
    window.resize(WIDE, TALL)
    window.show()
    return window


def file_of(job: str, folder: Path) -> Path:
    """The file that the page of a job begins with."""
    text = (Path(__file__).parents[1] / "howto" / f"{job}.md").read_text("utf-8")
    name, _, rest = text.partition("```{file} ")[2].partition("\n")
    path = folder / name
    path.write_text(rest.partition("```")[0], "utf-8")
    return path


def jobs(out: Path) -> None:
    """A file that is asked about, tables of others attacked, sums judged."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        window = opened()
        window.files.ask_reading(str(file_of("messy_file", folder)), thousands=".")
        settle(window)
        (sheet,) = window.findChildren(ImportSheet)
        sheet.resize(WIDE + 120, TALL - 120)
        if not sheet.grab().save(str(out / "import.png")):
            raise SystemExit("cannot write import")
        sheet.reject()
        window.go("attack")
        page = window.page
        assert isinstance(page, AttackPage)
        page.add([str(file_of("attack", folder))])
        settle(window)
        page.files.rows[0].method.setCurrentText("random_rounding:base=3")
        take(window, out, "attack")
        window.close()
        sums, window = folder / "turnover.parquet", opened()
        asked = ["--by", "nace,region", "--measure", "turnover", "--holding", "ent"]
        if shell(["tabulate", "example:fictitious-businesses", *asked, "--out", str(sums)]):
            raise SystemExit("cannot add up the records")
        window.files.open(str(sums))
        settle(window)
        window.document.do(set_rules, rules=["p=10"])
        take(window, out, "sums")
        window.document.saved = window.document.project
        window.close()


def main(out: Path) -> None:
    """Take all pictures."""
    speak_in_window(application())
    THEME.apply(mode="light", zoom=1.0)
    jobs(out)
    window = opened()
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
    reader = opened()
    reader.files.open(str(bundle))
    settle(reader)
    reader.document.select((0, 1))
    reader.go("check")
    take(reader, out, "reader")
    bundle.unlink()
    reader.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
