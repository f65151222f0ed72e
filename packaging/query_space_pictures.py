"""Pictures of the query space for the docs: ``python packaging/query_space_pictures.py OUT``.

The Czech lattice half released, its critical widths in numbers, and the frontiers of a table of 13 variables (the tests' copy of it).
"""

from __future__ import annotations

import argparse
import gzip
import tempfile
from pathlib import Path

from PySide6.QtGui import QImage
from screenshots import settle, take

from tabprotect.engine.project.verbs.query_verbs import set_release_criterion, set_release_plan
from tabprotect.gui.base.document import Document
from tabprotect.gui.frame.app import application
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.look.theme import THEME
from tabprotect.gui.pages.query_space.page import QuerySpacePage

WIDE = Path(__file__).parents[1] / "tests" / "reference" / "kdd13_b.csv.gz"

HALF = (["A", "B", "C", "D"], ["C", "D", "E"], ["B", "F"])
SOME = (
    ["workclass", "education", "race", "sex"],
    ["race", "sex", "tax", "citizenship"],
    ["age", "sex"],
    ["marital", "sex", "citizenship"],
)


def page_of(window: MainWindow, source: str) -> QuerySpacePage:
    """The page on a table, whatever was planned on the one before."""
    window.document.saved = window.document.project
    window.files.open(source)
    settle(window)
    window.go("query_space")
    settle(window)
    page = window.pages["query_space"]
    assert isinstance(page, QuerySpacePage)
    return page


def main() -> None:
    """Parse the command line and take the pictures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path)
    out: Path = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    application()
    THEME.apply(mode="light", zoom=1.0)
    window = MainWindow(Document())
    window.resize(1280, 720)
    window.show()
    page = page_of(window, "example:czech-autoworkers")
    window.document.do(set_release_criterion, threshold=10)
    window.document.do(set_release_plan, margins=HALF)
    settle(window)
    assert page.space.regions is not None
    page.space.set_focus(page.space.regions.letters.lattice.query("ACDE"))
    take(window, out / "query-space-lattice.png")
    page.tabs.setCurrentWidget(page.numbers)
    take(window, out / "query-space-numbers.png")
    page.tabs.setCurrentWidget(page.lattice)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "census-13.csv"
        path.write_bytes(gzip.decompress(WIDE.read_bytes()))
        page = page_of(window, str(path))
        window.document.do(set_release_plan, margins=SOME)
        settle(window)
        assert page.space.regions is not None
        page.space.set_focus(page.space.regions.state.released.members[0])
        take(window, out / "query-space-13-variables.png")
    window.document.saved = window.document.project
    window.close()
    for path in out.glob("query-space-*.png"):
        # Qt writes fast; here small is wanted (0 compresses most), and no transparency.
        QImage(str(path)).convertToFormat(QImage.Format.Format_RGB888).save(str(path), "PNG", 0)


if __name__ == "__main__":
    main()
