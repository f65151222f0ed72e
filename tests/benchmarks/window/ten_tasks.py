"""The tasks of a day in the real window, with a mouse and typed words alone.

``xvfb-run python tests/benchmarks/window/ten_tasks.py OUT`` prints clicks and seconds of each as a table; a blocker or a mistake of the program ends a task and is
said. Pictures of what the screen showed at its end go to OUT. With ``--keys`` nothing but keys is
pressed, and each thing that is pressed has a picture that shows the focus on it.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import itertools
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

os.environ.setdefault("QT_QPA_PLATFORM", "xcb")
# A house of its own: nothing has left it.
os.environ["TABPROTECT_HOME"] = tempfile.mkdtemp(prefix="tabprotect-tasks-")

import numpy as np
import xlsxwriter
from fingers import Fingers
from hand import Hand, MissingError, turn
from PySide6.QtWidgets import QApplication, QLineEdit

from tabprotect import convert
from tabprotect.gui.base.document import Document
from tabprotect.gui.forms.mapping_sheet import MappingSheet
from tabprotect.gui.frame.app import application
from tabprotect.gui.frame.main_window import OPEN, MainWindow
from tabprotect.gui.look.theme import THEME
from tabprotect.gui.pages.release.publish_form import PublishDialog
from tabprotect.gui.pages.tabulate.page import DRAWN

FIRMS = Path(__file__).parents[3] / "resources/examples/fictitious-businesses/records.csv.gz"

REGIONS = ("Baden-W\u00fcrttemberg", "Bayern", "Berlin", "Hessen", "N\u00fcrnberg", "Saarland")
AGES = ("0-17", "18-39", "40-64", "65+")
STATES = ("ledig", "verheiratet", "verwitwet")
TOTAL = "Insgesamt"


def counts() -> dict[tuple[str, str, str], int]:
    """A table as an office publishes it, with some small counts."""
    draw = np.random.default_rng(3)
    out = {
        key: int(draw.choice([1500, 2300, 27, 18, 812, 1044, 3]))
        for key in itertools.product(REGIONS, AGES, STATES)
    }
    for region in REGIONS:
        out[region, "0-17", "verheiratet"] = out[region, "0-17", "verwitwet"] = 0
    out["Bayern", "0-17", "verheiratet"], out["Berlin", "18-39", "verwitwet"] = 1, 2
    return out


def messy(path: Path) -> None:
    """Title lines, Latin-1, points between thousands, signs, totals, percentages, a note."""
    cells = counts()
    whole = sum(cells.values())
    lines = ["Statistisches Amt, Tabelle 7: Bev\u00f6lkerung nach Region", "Stand: 31.12.2024", ""]
    lines.append("Region;Altersgruppe;Familienstand;Personen;Anteil in %")
    for key in itertools.product((*REGIONS, TOTAL), (*AGES, TOTAL), (*STATES, TOTAL)):
        value = sum(
            n for at, n in cells.items() if all(k in (a, TOTAL) for a, k in zip(at, key, strict=True))
        )
        text = f"{value:,}".replace(",", ".") if value else "-"
        text = ".." if key == ("N\u00fcrnberg", "0-17", "verwitwet") else text
        share = f"{100 * value / whole:.2f}".replace(".", ",")
        lines.append(";".join((*key, text, share)))
    lines += ["", "* .. = nicht ver\u00f6ffentlicht; - = nichts vorhanden"]
    path.write_text("\n".join(lines) + "\n", encoding="latin-1")


def merged(path: Path) -> None:
    """A sheet with merged header cells, a title, totals and a source."""
    cells = counts()
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("Tabelle")
        sheet.write(0, 0, "Bev\u00f6lkerung nach Region, Alter und Familienstand")
        for a, age in enumerate((*AGES, TOTAL)):
            first = 1 + a * (len(STATES) + 1)
            sheet.merge_range(2, first, 2, first + len(STATES), age)
            for s, state in enumerate((*STATES, TOTAL)):
                sheet.write(3, first + s, state)
        sheet.write(3, 0, "Region")
        for row, region in enumerate((*REGIONS, TOTAL), 4):
            sheet.write(row, 0, region)
            for column, key in enumerate(itertools.product((*AGES, TOTAL), (*STATES, TOTAL)), 1):
                here = (region, *key)
                value = sum(
                    n
                    for at, n in cells.items()
                    if all(k in (c, TOTAL) for c, k in zip(at, here, strict=True))
                )
                sheet.write(row, column, value)
        sheet.write(5 + len(REGIONS) + 1, 0, "Quelle: Statistisches Amt")


def records(path: Path, number: int, *, towns: tuple[str, ...]) -> None:
    """Records of people, in towns."""
    draw = np.random.default_rng(5)
    # Large towns and small ones.
    sizes = np.array([1.0 / (1 + int(town[1:])) ** 2 for town in towns])
    at = draw.choice(len(towns), size=number, p=sizes / sizes.sum())
    age, sex = draw.integers(0, 80, number), draw.integers(2, size=number)
    work = draw.integers(3, size=number)
    lines = ["town,age,sex,work"]
    lines += [f"{towns[t]},{a},{'fm'[s]},w{w}" for t, a, s, w in zip(at, age, sex, work, strict=True)]
    path.write_text("\n".join(lines) + "\n")


def prepare(folder: Path) -> None:
    """The files of the tasks."""
    messy(folder / "messy.csv")
    merged(folder / "merged.xlsx")
    towns = tuple(f"t{n:02d}" for n in range(24))
    rows = [f"{t},D{n // 4},R{n // 12}" for n, t in enumerate(towns)]
    # As official lists are: with a code that nobody lives at.
    (folder / "towns.csv").write_text("\n".join(["town,district,region", *rows, "t99,D5,R1"]))
    records(folder / "people2024.csv", 100_000, towns=towns)
    later = (*towns[:10], *towns[12:], "t24", "t25", "t26")
    records(folder / "people2025.csv", 100_000, towns=later)
    (folder / "firms.csv").write_bytes(gzip.decompress(FIRMS.read_bytes()))
    eight = np.random.default_rng(8).poisson(1.0, (2,) * 8)
    lines = [",".join([*(f"v{k}" for k in range(8)), "count"])]
    lines += [",".join([*map(str, index), str(int(n))]) for index, n in np.ndenumerate(eight)]
    (folder / "eight.csv").write_text("\n".join(lines) + "\n")
    # 5 + 2 + 2 + 2 is the only way to 11.
    ages = "area,age,count\nH,0,3\nH,18,0\nH,40,0\nH,65,0\nS,0,6\nS,18,3\nS,40,3\nS,65,9\n"
    (folder / "ages.csv").write_text(ages)
    (folder / "areas.csv").write_text("area,count\nH,11\nS,22\n")
    for name in ("ages", "areas"):
        convert(folder / f"{name}.csv", folder / f"{name}.px")


# -- the tasks: each begins at the start page ----------------------------------------------------


ALL_METHODS = 120.0
"""Seconds that somebody leaves the longest work alone."""

WISHES = 30.0
"""Seconds that somebody waits for wishes to be proved."""


def publish(hand: Hand, *, reason: str = "") -> None:
    """Sign in the panel, and publish."""
    window = hand.window

    def field(begin: str) -> QLineEdit | None:
        every = (f for f in hand.panel.findChildren(QLineEdit) if f.isVisible())
        return next((f for f in every if f.accessibleName().startswith(begin)), None)

    for name, text in (("Approved", "A. Zweite"), ("Title", "Persons 2024"), ("Reason", reason)):
        there = field(name)
        if there is not None and text and not there.text():
            hand.write(there, text)
    with contextlib.suppress(MissingError):
        hand.button("It is public already", hand.panel)
    hand.next()
    sheet = hand.front
    if not isinstance(sheet, PublishDialog):
        raise MissingError(f"publishing was not asked: {window.page.sentence}")
    hand.click(sheet.publish)
    project = window.document.project
    if project is None or not project.published:
        raise MissingError("nothing was published")


def protect(hand: Hand) -> None:
    """What the panel proposes, once every way was tried."""
    hand.settle(ALL_METHODS)
    hand.next()
    hand.settle(ALL_METHODS)
    if hand.window.document.project is None or not hand.window.document.has_release:
        raise MissingError("nothing was protected")


def messy_to_a_bundle(hand: Hand, files: Path) -> None:
    """A messy file with percentages, its question, and a bundle."""
    hand.button("Open a table")
    hand.file(files / "messy.csv")
    hand.picture("messy-question")
    hand.button(".. is hidden")
    hand.button("Open the table")
    protect(hand)
    publish(hand)


def excel(hand: Hand, files: Path) -> None:
    """Excel with merged heads to a bundle: all its totals add up, so nothing is asked."""
    hand.button("Open a table")
    hand.file(files / "merged.xlsx")
    protect(hand)
    publish(hand)


def count(hand: Hand, file: Path, *, key: str = "") -> None:
    """Count records by all their variables."""
    hand.button("Count records")
    hand.file(file)
    hand.button("Tick all")
    if key:
        hand.choose("Key of a record", key)
    hand.click(hand.window.page.main_button)


def three_levels(hand: Hand, files: Path) -> None:
    """100,000 records: districts and regions above the towns, and bands of age."""
    count(hand, files / "people2024.csv", key=DRAWN)
    hand.button("Categories")
    hand.item("town")
    hand.button("Code list")
    hand.button("Code list from a file")
    hand.file(files / "towns.csv")
    if isinstance(hand.front, MappingSheet):
        hand.button("Go on")
    hand.item("age")
    width = next(
        f for f in hand.window.page.findChildren(QLineEdit) if f.accessibleName() == "Where bands begin"
    )
    hand.write(width, "0, 18, 40, 65")
    hand.button("Add this level")
    hand.button("Count at this level")


def risky(hand: Hand, files: Path) -> None:
    """Which counts are small, and why."""
    hand.button("Duncan")
    hand.clicks = 0
    hand.button("Show the risk list")


def own_cycle(hand: Hand, files: Path) -> None:
    """Cyclic perturbation with a cycle of one's own."""
    hand.button("Duncan")
    hand.clicks = 0
    hand.settle(ALL_METHODS)
    hand.button("Tune", hand.panel)
    hand.button("Look at the cycles", hand.panel)
    page = hand.window.page
    hand.button("Add a cycle")
    cells = page.grid.grid.cells
    for row, column, times in ((1, 2, 1), (2, 3, 1)):
        for _ in range(times):
            hand.click(cells.viewport(), cells.visualRect(cells.model().index(row, column)).center())
    hand.picture("own-cycle-broken")
    hand.button("Mend")
    hand.click(page.main_button)
    hand.next()
    if hand.window.document.release is None:
        raise MissingError("nothing was protected")


def another_way(hand: Hand, files: Path) -> None:
    """All ways side by side, and one of them taken."""
    hand.button("Duncan")
    hand.settle(ALL_METHODS)
    hand.clicks = 0
    hand.button("Other ways", hand.panel)
    hand.item("Random rounding")
    hand.next()
    if hand.window.document.release is None:
        raise MissingError("nothing was protected")


def one_cell(hand: Hand, files: Path) -> None:
    """What readers learn of a cell, large."""
    hand.button("Duncan")
    protect(hand)
    hand.clicks = 0
    hand.rail("check")


def read_and_excel(hand: Hand, files: Path) -> None:
    """Published, read as a reader, and an Excel file."""
    hand.button("Duncan")
    protect(hand)
    hand.clicks = hand.words = 0
    publish(hand)
    hand.button("Excel", hand.panel)
    hand.button("Save as\u2026", hand.front)
    hand.file(files / "out.xlsx")
    hand.settle()
    if not (files / "out.xlsx").exists():
        raise MissingError("no workbook was written")
    hand.button("Open as a reader", hand.panel)


def amounts(hand: Hand, files: Path) -> None:
    """Turnovers of firms by industry and region, from records to a bundle."""
    hand.button("Count records")
    hand.file(files / "firms.csv")
    for name in ("nace", "region"):
        hand.item(name)
    hand.choose("Add up", "turnover")
    hand.click(hand.window.page.main_button)
    hand.button("Add rule")
    protect(hand)
    publish(hand, reason="weighed by the board")


def planned(hand: Hand, files: Path) -> None:
    """Of eight variables all two-way tables, as far as they may go out, to the gate."""
    hand.button("Open a table")
    hand.file(files / "eight.csv")
    hand.clicks = 0
    hand.rail("query_space")
    hand.tab("Wish list")
    hand.click(hand.find("All two-way tables"), settle=False)
    # What is proved by then is planned; the rest could be tried for minutes.
    hand.settle(WISHES)
    main = hand.window.page.main_button
    hand.click(main, settle=False)
    end = time.monotonic() + ALL_METHODS
    while not main.text().startswith("Publish the") and time.monotonic() < end:
        turn(0.1)
    hand.picture("plan-proved")
    hand.click(main, settle=False)
    hand.settle(WISHES)
    hand.next()
    hand.settle(ALL_METHODS)
    if hand.window.document.release is None:
        raise MissingError("nothing was made of the plan")


def next_year(hand: Hand, files: Path) -> None:
    """The same as last year, with three codes more and two fewer."""
    three_levels(hand, files)
    hand.window.go("table")
    protect(hand)
    hand.clicks = hand.words = hand.scrolls = 0
    hand.menu("File", "Save as recipe")
    hand.file(files / "recipe.toml")
    hand.menu("File", "Run a recipe")
    hand.file(files / "recipe.toml")
    hand.file(files / "people2025.csv")
    hand.settle()
    while isinstance(hand.front, MappingSheet):
        hand.button("Go on")
    hand.picture("since")
    hand.button("Close")


def attacked(hand: Hand, files: Path) -> None:
    """What two PX files tell together."""
    hand.button("Read a release")
    hand.button("Add\u2026")
    hand.file(files / "ages.px")
    hand.button("Add\u2026")
    hand.file(files / "areas.px")
    # It waits for further files.
    turn(2)
    hand.settle()


TASKS: dict[str, Callable[[Hand, Path], None]] = {
    "messy CSV to a bundle": messy_to_a_bundle,
    "merged Excel to a bundle": excel,
    "100,000 records with three levels": three_levels,
    "what is risky": risky,
    "an own cycle": own_cycle,
    "another way": another_way,
    "what readers learn of a cell": one_cell,
    "publish, read, Excel": read_and_excel,
    "amounts from records to a bundle": amounts,
    "plan over eight variables": planned,
    "next year: three new codes, two lost": next_year,
    "attack on two PX files": attacked,
}


def main() -> None:
    """Parse the command line and do the tasks."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--size", default="1366x768")
    parser.add_argument("--only", default="")
    parser.add_argument("--keys", action="store_true")
    parser.add_argument("--mode", choices=("light", "dark"), default="light")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    application()
    QApplication.setQuitOnLastWindowClosed(False)
    mistakes: list[str] = []

    def caught(kind: type[BaseException], error: BaseException, at: TracebackType | None) -> None:
        mistakes.append("".join(traceback.format_exception(kind, error, at)))

    sys.excepthook = caught
    print(f"{'task':45} {'keys' if arguments.keys else 'clicks':6} scrolls words seconds")
    for name, task in TASKS.items():
        if arguments.only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            prepare(Path(folder))
            # In no task something of another one has left.
            os.environ["TABPROTECT_HOME"] = str(Path(folder) / "home")
            os.environ["HOME"] = folder
            THEME.apply(mode=arguments.mode, zoom=1.0)
            window = MainWindow(Document())
            window.document.error_raised.connect(lambda e, page: print("   said:", page, e))
            window.resize(*map(int, arguments.size.split("x")))
            window.show()
            hand = (Fingers if arguments.keys else Hand)(window, arguments.out)
            hand.settle()
            began = time.monotonic()
            told = ""
            try:
                task(hand, Path(folder))
            except (MissingError, StopIteration, KeyError) as error:
                told = f"BLOCKED: {error!r}"
            seconds = time.monotonic() - began
            hand.picture(name.replace(" ", "-").replace(":", "").replace(",", ""))
            print(f"{name:45} {hand.clicks:6} {hand.scrolls:7} {hand.words:5} {seconds:7.1f} {told}")
            print("   ", window.page.name, "|", window.page.sentence[:150], flush=True)
            window.document.jobs.cancel_all()
            for reader in list(OPEN):
                reader.close()
            hand.front.close()
            hand.settle()
            window.document.saved = window.document.project
            window.close()
    for mistake in mistakes:
        print(mistake)


if __name__ == "__main__":
    main()
