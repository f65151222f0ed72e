"""The size and shape of the product in figures: ``python packaging/house_figures.py``.

Statements of ``tabprotect`` that are neither import nor docstring, and tokens that are no comment:
figures that a formatter cannot change; files; modules for magnitudes outside their mathematics;
functions over sixty lines; functions of more than six parameters; annotations of ``Any``; and the
files in which a function is entered while a table is protected on the command line and while Run is
clicked in the window.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import sys
import tempfile
import threading
import tokenize
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "tabprotect"
LONG = 60
PARAMETERS = 6
LAYOUT = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
MATHEMATICS = ("engine/magnitudes/", "engine/posterior/")
QUIET = 400
"""Milliseconds without work after which an act is over."""

EXAMPLE = "example:duncan-roehrig-4x4"

Function = ast.FunctionDef | ast.AsyncFunctionDef


def spans(node: ast.stmt) -> range:
    """The lines of a statement, from one."""
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def statements(tree: ast.Module) -> int:
    """Statements that are neither an import nor a string, as docstrings are."""
    kept = 0
    for node in ast.walk(tree):
        match node:
            case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant(value=str())):
                continue
            case ast.stmt():
                kept += 1
    return kept


def tokens(text: str) -> int:
    """Tokens that are neither comment nor layout."""
    return sum(t.type not in LAYOUT for t in tokenize.generate_tokens(io.StringIO(text).readline))


def for_magnitudes(path: Path) -> bool:
    """Whether a module serves magnitudes only and is not their mathematics."""
    name = path.relative_to(PACKAGE).as_posix()
    return ("magnitude" in name or "sums" in name) and not name.startswith(MATHEMATICS)


def parameters(function: Function) -> int:
    """The parameters of a function without ``self`` and ``cls``."""
    given = function.args
    names = [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return len([name for name in names if name not in ("self", "cls")])


def of_source() -> Counter[str]:
    """The figures that follow from the text of the product."""
    found: Counter[str] = Counter()
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text("utf-8")
        tree = ast.parse(text)
        found["files"] += 1
        found["statements"] += statements(tree)
        found["tokens"] += tokens(text)
        found["modules for magnitudes outside their mathematics"] += for_magnitudes(path)
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id == "Any":
                found["Any"] += 1
            if isinstance(node, Function):
                found["over 60 lines"] += len(spans(node)) > LONG
                found["over 6 parameters"] += parameters(node) > PARAMETERS
    return found


def entered(act: Callable[[], object]) -> set[str]:
    """The product's files in which a function is entered by an act, in any thread."""
    files: set[str] = set()

    def look(frame: FrameType, event: str, argument: object) -> None:
        name = frame.f_code.co_filename
        if event != "call" or name in files or not name.startswith(str(PACKAGE)):
            return
        above: FrameType | None = frame
        # What runs while a module is imported is no step of the act.
        while above is not None and above.f_code.co_filename != __file__:
            if above.f_code.co_name == "<module>":
                return
            above = above.f_back
        files.add(name)

    threading.setprofile(look)
    sys.setprofile(look)
    try:
        act()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return {str(Path(name).relative_to(PACKAGE)) for name in files}


def of_protect() -> tuple[set[str], set[str]]:
    """Files that protecting an example on the command line enters, alone and beside an earlier release."""
    from tabprotect.cli.main import main

    with tempfile.TemporaryDirectory() as folder:
        os.environ["TABPROTECT_HOME"] = folder

        def files(name: str, *more: str) -> set[str]:
            words = ["protect", EXAMPLE, "--method", "cyclic_perturbation", *more]
            words += ["--out", str(Path(folder, f"{name}.zip"))]
            words += ["--dossier", str(Path(folder, f"{name}-dossier.zip"))]
            with contextlib.redirect_stdout(io.StringIO()):
                return entered(lambda: main(words))

        return files("first"), files("second", "--set", "alpha=0.25", "--again", "yearly")


def of_run() -> set[str]:
    """Files that a click on Run enters, until nothing is at work any more."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtTest import QTest

    from tabprotect.gui.base.document import Document
    from tabprotect.gui.frame.app import application
    from tabprotect.gui.frame.main_window import MainWindow

    def settle() -> None:
        QTest.qWait(QUIET)
        while window.document.jobs.running:
            QTest.qWait(QUIET)

    kept = application()
    window = MainWindow(Document())
    window.show()
    window.files.open(EXAMPLE)
    settle()
    window.go("perturb")
    settle()
    page = window.pages["perturb"]

    def click() -> None:
        page.main_button.click()
        settle()

    found = entered(click)
    assert window.document.project.protected is not None
    window.document.saved = window.document.project
    window.close()
    del kept
    return found


if __name__ == "__main__":
    for name, figure in of_source().items():
        print(f"{figure:8,} {name}")
    first, second = of_protect()
    for act, walked in (
        ("protect", first),
        ("protect beside an earlier release", second),
        ("a click on Run", of_run()),
    ):
        print(f"{len(walked):8,} files entered by {act}")
        if "--list" in sys.argv:
            print("\n".join(sorted(walked)))
