"""The figures of ``methods/designed_cycles.md``: ``python packaging/cycle_tables.py [--quick]``.

Designs for the kept margins of the examples, run and read by their posterior; the default before
designs beside the default, with a picture of what a reader can believe. Rewrites the tables between
their marks in the page, and the picture. Beliefs under any_zero are from a few releases.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QImage, QPainter

from tabprotect.engine.arrays import Floats
from tabprotect.engine.disclosure import gate
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.errors import RefusedError
from tabprotect.engine.parameters import Values
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.progress import SILENT
from tabprotect.engine.project.sources import open_table
from tabprotect.engine.protection.cycle_runs.trial_runs import tried_cycles
from tabprotect.engine.protection.methods.cyclic_perturbation import PLUGIN
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.table import Table
from tabprotect.gui.frame.app import application

DOCS = Path(__file__).parents[1] / "resources" / "docs"
PAGE = DOCS / "methods" / "designed_cycles.md"
PICTURE = DOCS / "images" / "designed-cycles.png"

CASES = {
    "duncan-roehrig-4x4": None,
    "sparse-10x10": None,
    "czech-autoworkers": "(A + B + C + D + E + F)^3",
    "adult-occupations": None,
}
"""The margins that are kept; by default all of one variable less."""

BEFORE: Mapping[str, Mapping[str, object]] = {
    "sparse-10x10": {"cycles": "strips-2", "blocking": "any_zero"},
    "czech-autoworkers": {"cycles": "order-3", "blocking": "any_zero"},
    "adult-occupations": {"cycles": "balanced", "blocking": "any_zero"},
}
"""The default before cycles were designed for margins."""

KNOWN = 0.95


@dataclass(frozen=True)
class Read:
    """What readers of some releases believe of the at-risk cells."""

    belief: float
    known: float
    change: float
    unchanged: float
    map: Floats


def read(table: Table, given: Mapping[str, object], releases: int) -> Read:
    """Release a table and read each release."""
    small = SmallCount()
    risky = small.mask(table.counts)
    beliefs, change, same = [], [], []
    first = np.zeros(table.domain.shape)
    values = PLUGIN.resolve_for(Problem(table), given)
    for seed in range(releases):
        done = PLUGIN.attempt(Problem(table), values, Randomness.seeded(seed)).release
        posterior = infer(likelihood_of(done), randomness=Randomness.seeded(seed))
        chance = posterior.probability(table.counts)
        beliefs.append(chance[risky])
        moved = done.table.counts - table.counts
        change.append(np.abs(moved).mean())
        same.append((moved[risky] == 0).mean())
        first = np.where(risky, chance, np.nan) if not seed else first
    every = np.concatenate(beliefs)
    known = float((every > KNOWN).mean())
    return Read(float(every.mean()), known, float(np.mean(change)), float(np.mean(same)), first)


def acceptance(releases: int) -> list[str]:
    """One row for each case: the design, and what both rules do."""
    rows = [
        "| table, kept | cycles = rank = dimension | most touches | rule | unchanged | stuck | "
        "mean change | belief | known |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, keep in CASES.items():
        table = open_table(f"example:{name}").table
        for rule in ("any_zero", "negative"):
            given = {"cycles": "triangular", "keep": keep, "blocking": rule}
            values: Values = PLUGIN.resolve_for(Problem(table), given)
            moves = values["cycles"]
            plus, minus = moves.touches
            counts = table.counts.reshape(-1, 1)
            generator = np.random.Generator(np.random.PCG64(1))
            runs = [tried_cycles(moves, values, np.repeat(counts, 8, axis=1), generator, SILENT)]
            found = read(table, given, releases)
            stuck, same = runs[0].stuck, runs[0].unchanged
            rows.append(
                f"| {name}, {keep or 'all but one'} | {len(moves):,} | "
                f"{int((plus + minus).max())} | `{rule}` | {same:.3f} | {stuck:.3f} | "
                f"{runs[0].change:.3f} | {found.belief:.2f} | {found.known:.2f} |"
            )
            print(rows[-1], flush=True)
    return rows


def leap(releases: int) -> list[str]:
    """The default before and after on three tables, and the picture."""
    rows = [
        "| table | default | known | belief | published unchanged | mean change |",
        "|---|---|---|---|---|---|",
    ]
    maps = []
    for name, before in BEFORE.items():
        table = open_table(f"example:{name}").table
        keep = CASES[name]
        after: dict[str, object] = {} if keep is None else {"keep": keep}
        for label, given in (("before", before), ("after", after)):
            found = read(table, given, releases)
            maps.append((f"{name}, {label}", found.map))
            rows.append(
                f"| {name} | {label} | {found.known:.2f} | {found.belief:.2f} | "
                f"{found.unchanged:.2f} | {found.change:.2f} |"
            )
            print(rows[-1], flush=True)
    paint(maps)
    return rows


EXAMPLES = (
    "duncan-roehrig-4x4",
    "langsrud-lupp",
    "duncan-roehrig-4x4x3",
    "sparse-10x10",
    "czech-autoworkers",
    "adult-occupations",
    "social-assistance",
)
"""Every shipped table."""

MORE = {24: 64, 64: 8}
"""Of tables of so many cells that many times as many releases are read: few cells tell little."""

FORMER: Mapping[str, object] = {"cycles": "default", "blocking": "any_zero"}
"""What the default is compared with: strips of two rows that block at any zero."""


def let_out(problem: Problem, given: Mapping[str, object], seeds: int) -> str:
    """How often the gate lets one of its draws out."""
    policy = AgencyPolicy()
    drawn = (
        gate.protect(PLUGIN, problem, given, Randomness.seeded(seed), policy=policy, draft=True)
        for seed in range(seeds)
    )
    released = sum(not gate.against(done, policy) for done in drawn)
    return f"released {released} of {seeds}"


def help_for(problem: Problem, seeds: int) -> str:
    """The first remedy of the default where it is refused, taken; empty where it is not."""
    for seed in range(seeds):
        try:
            gate.protect(PLUGIN, problem, {}, Randomness.seeded(seed))
        except RefusedError as error:
            if not error.suggestions:
                return "none of those tried helps"
            best = error.suggestions[0]
            return f"{best.text}: {let_out(problem, best.parameters, seeds)}"
    return ""


def moved(problem: Problem, values: Values) -> float:
    """Mean change of a count over many runs."""
    counts = np.repeat(problem.table.counts.reshape(-1, 1), 8, axis=1)
    generator = np.random.Generator(np.random.PCG64(1))
    return tried_cycles(values["cycles"], values, counts, generator, SILENT).change  # type: ignore[arg-type]


def alike(problem: Problem, values: Values, change: float) -> dict[str, object]:
    """The same mechanism with the coin at which counts move as little as ``change``."""
    low, high = 0.0, 0.25
    for _ in range(12):
        alpha = (low + high) / 2
        less = moved(problem, values | {"alpha": alpha, "beta": alpha}) < change
        low, high = (alpha, high) if less else (low, alpha)
    coin = round((low + high) / 2, 4)
    return {"cycles": values["cycles"], "blocking": values["blocking"], "alpha": coin, "beta": coin}


def examples(releases: int) -> list[str]:
    """The default of every shipped table before and after, and what is done where it is refused."""
    rows = [
        "| table | before: gate, known, belief, mean change | after: gate, known, belief, mean "
        "change | after, belief at the mean change of before | tried where refused |",
        "|---|---|---|---|---|",
    ]
    for name in EXAMPLES:
        problem = Problem(open_table(f"example:{name}").table)
        size = problem.table.domain.size
        number = releases * next((times for most, times in MORE.items() if size <= most), 1)
        texts, changes = [], []
        for given in (FORMER, {}):
            gate_says = let_out(problem, given, releases)
            values = PLUGIN.resolve_for(problem, given)
            changes.append(moved(problem, values))
            found = read(problem.table, given, number)
            texts.append(f"{gate_says}, {found.known:.2f}, {found.belief:.2f}, {changes[-1]:.2f}")
        same = "the same" if texts[0] == texts[1] else "\u2013"
        if 0 < changes[0] < changes[1]:
            less = alike(problem, values, changes[0])
            same = f"{read(problem.table, less, number).belief:.2f}"
        rows.append(f"| {name} | {texts[0]} | {texts[1]} | {same} | {help_for(problem, releases)} |")
        print(rows[-1], flush=True)
    return rows


def paint(maps: list[tuple[str, Floats]]) -> None:
    """Belief in the true count of every at-risk cell, before beside after."""
    application()
    wide, high, line = 900, 620, 24
    image = QImage(wide, high, QImage.Format.Format_RGB32)
    image.fill(QColor("#ffffff"))
    painter = QPainter(image)
    for k, (label, chances) in enumerate(maps):
        flat = chances.reshape(chances.shape[0] * (8 if chances.ndim > 3 else 1), -1)
        if chances.ndim > 3:
            flat = chances.reshape(8, 8)
        box = QRect(10 + k % 2 * wide // 2, 10 + k // 2 * (high // 3), wide // 2 - 20, high // 3 - 14)
        painter.setPen(QColor("#1d1f21"))
        painter.drawText(box.left(), box.top() + 14, label)
        step_x = box.width() / flat.shape[1]
        step_y = (box.height() - line) / flat.shape[0]
        for (r, c), chance in np.ndenumerate(flat):
            if np.isnan(chance):
                ink = QColor("#f0f0ee")
            else:
                share = float(chance)
                ink = QColor.fromRgbF(0.85 - 0.2 * share, 0.88 - 0.6 * share, 0.95 - 0.95 * share)
            left, top = box.left() + c * step_x, box.top() + line + r * step_y
            painter.fillRect(int(left), int(top), max(int(step_x), 1), max(int(step_y), 1), ink)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.end()
    image.save(str(PICTURE))
    print(PICTURE)


def put(text: str, mark: str, rows: list[str]) -> str:
    """The page with other rows between two marks."""
    begin, end = f"<!-- {mark}: packaging/cycle_tables.py -->\n", f"<!-- end of {mark} -->"
    head, _, rest = text.partition(begin)
    _, _, tail = rest.partition(end)
    return head + begin + "\n".join(rows) + "\n" + end + tail


def main() -> None:
    """Parse the command line and rewrite the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one release of each")
    releases = 1 if parser.parse_args().quick else 8
    text = PAGE.read_text(encoding="utf-8")
    text = put(text, "acceptance", acceptance(releases))
    text = put(text, "leap", leap(releases))
    text = put(text, "examples", examples(releases))
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
