"""Two figures of the table server's source beside ours: ``python packaging/table_server_figures.py``.

Drawn anew, as SVG: on the left from what the source prints (its variables, the frontier released at
threshold 3), on the right from a server that runs here, over another coding of the same survey.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from tabprotect.engine.query_space.lattice import in_order
from tabprotect.server.application import started
from tabprotect.server.served_table import ServedTable
from tabprotect.server.service import CriterionChoice, RequestLimits, Service, TableSource

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "resources" / "docs" / "images"
TABLE = ROOT / "tests" / "reference" / "kdd13_b.csv.gz"

CATEGORIES = (5, 2, 3, 3, 5, 8, 2, 2, 3, 5, 2, 3, 2)
"""Of the source's variables, which it numbers 1 to 13."""

PRINTED = (
    (2, 3, 7, 8, 11, 12, 13),
    (2, 3, 4, 7, 8, 11, 13),
    (1, 7, 8, 11, 12, 13),
    (2, 5, 7, 8, 11, 13),
    (5, 6, 7, 8, 11, 13),
    (2, 4, 7, 9, 11, 13),
    (2, 7, 8, 10, 11, 13),
)
"""The released frontier that it prints for threshold 3 (one of its sets lies in another one)."""

ASKED = 300
"""Random requests, of one to five variables, that made the frontier on the right."""

TICKED = (0, 2, 7)

WIDE, LINE = 470, 24

STYLE = """
text { font-family: sans-serif; font-size: 13px; fill: #1d1f21 } .head { font-weight: bold }
.small { font-size: 11px; fill: #55595e } .box { fill: #ffffff; stroke: #55595e }
.ground { fill: #ffffff } .line { stroke: #d5d5d0 } .dot { fill: #1f5f8b }
.never { fill: none; stroke: #b03a2e; stroke-width: 1.5 }
.tick { fill: none; stroke: #1f5f8b; stroke-width: 2 }
.button { fill: #e9eef2; stroke: #1f5f8b }
"""


def text(x: float, y: float, said: str, kind: str = "", anchor: str = "start") -> str:
    """A line of text."""
    return f'<text x="{x}" y="{y}" class="{kind}" text-anchor="{anchor}">{escape(said)}</text>'


def picture(name: str, about: str, height: int, parts: Iterable[str]) -> None:
    """Write one figure of two panels."""
    (IMAGES / name).write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDE} {height}" '
        f'width="{2 * WIDE}" height="{height}" role="img"><title>{escape(about)}</title>'
        f'<style>{STYLE}</style><rect class="ground" width="{2 * WIDE}" height="{height}"/>'
        + "\n".join([*parts, f'<line class="line" x1="{WIDE}" x2="{WIDE}" y2="{height}"/>'])
        + "</svg>\n",
        encoding="utf-8",
    )


def screen(left: float, head: str, rows: Sequence[tuple[str, str]], buttons: str) -> list[str]:
    """Variables to tick, and what each row says of itself."""
    out = [text(left + 16, 26, head, "head")]
    for number, (name, said) in enumerate(rows):
        x, y = left + 20, 42 + LINE * number
        out.append(f'<rect class="box" x="{x}" y="{y}" width="14" height="14"/>')
        if number in TICKED:
            out.append(f'<path class="tick" d="M{x + 3} {y + 7}l3 4l6 -9"/>')
        out += [text(x + 24, y + 12, name), text(left + 190, y + 12, said, "small")]
    y = 42 + LINE * len(rows) + 6
    out.append(f'<rect class="button" x="{left + 20}" y="{y}" width="90" height="24" rx="3"/>')
    return [*out, text(left + 65, y + 16, buttons, anchor="middle")]


def matrix(left: float, head: str, names: Sequence[str], sets: Sequence[Sequence[int]]) -> list[str]:
    """A row for each maximal released sub-table, a column for each variable."""
    step, top = 26, 120
    out = [text(left + 16, 26, head, "head")]
    for v, name in enumerate(names):
        x = left + 110 + step * v
        out.append(
            f'<text class="small" transform="translate({x + 4} {top - 14}) rotate(-55)">{escape(name)}</text>'
        )
    for row, members in enumerate(sets):
        y = top + 20 * row
        out.append(f'<line class="line" x1="{left + 96}" x2="{left + 446}" y1="{y}" y2="{y}"/>')
        out.append(text(left + 88, y + 4, f"{len(members)} variables", "small", "end"))
        out += [f'<circle class="dot" cx="{left + 110 + step * v}" cy="{y}" r="6"/>' for v in members]
    return out


def answered(served: ServedTable) -> None:
    """Ask for random sub-tables, as users would."""
    rng, names = random.Random(1), [variable.name for variable in served.offered]
    for _ in range(ASKED):
        served.ask("anybody", served.lattice.query(rng.sample(names, rng.choice([1, 2, 3, 4, 5]))))


def main() -> None:
    """Draw both."""
    service = Service(
        table=TableSource(source=str(TABLE), id="survey", at_risk="1..3"),
        criterion=CriterionChoice(threshold=3),
        limits=RequestLimits(cells=10_000_000),
    )
    with tempfile.TemporaryDirectory() as folder:
        server = started(service, f"{folder}/history.sqlite")
        served = server.table
        try:
            offered = {variable.name for variable in served.offered}
            names = [variable.name for variable in served.domain.variables]
            rows = [
                (v.name, f"{len(v.categories)} categories" + ("" if v.name in offered else ", never"))
                for v in served.domain.variables
            ]
            wanted = served.lattice.query([names[v] for v in TICKED])
            shape = served.shape(wanted)
            may = served.state.releases.allows(wanted)
            answered(served)
            found = in_order(q for q in served.state.releases.released if q)
            refused = len(served.state.refused.members)
        finally:
            server.close()
    said = f"{' x '.join(map(str, shape))} cells: " + ("may be asked for" if may else "never")
    theirs = [(str(k + 1), f"{n} categories") for k, n in enumerate(CATEGORIES)]
    height = 42 + LINE * len(rows) + 60
    picture(
        "table-server-figure-3.svg",
        "The input screen of the source, and ours",
        height,
        [
            *screen(0, "The source, figure 3: variables are ticked", theirs, "Submit"),
            *screen(WIDE, "Here: Ask", rows, "Look"),
            text(WIDE + 122, 42 + LINE * len(rows) + 22, said, "small"),
        ],
    )
    sets = [[v for v in range(len(names)) if q >> v & 1] for q in found]
    sets.sort(key=lambda members: (-len(members), members))
    most = max(len(PRINTED), len(sets))
    note = f"also shown here: {refused} smallest sub-tables that are refused for good"
    printed = [[v - 1 for v in members] for members in PRINTED]
    numbers = [str(v + 1) for v in range(len(CATEGORIES))]
    picture(
        "table-server-figure-4.svg",
        "The released frontier of the source, and ours",
        120 + 20 * most + 36,
        [
            *matrix(0, "The source, figure 4: the released frontier", numbers, printed),
            *matrix(WIDE, "Here: What is released", names, sets),
            text(WIDE + 16, 120 + 20 * most + 20, note, "small"),
        ],
    )
    print(f"{len(sets)} rows, {refused} refused, {said}")


if __name__ == "__main__":
    main()
