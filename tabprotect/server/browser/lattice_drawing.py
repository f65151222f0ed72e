"""The query space of few variables, drawn as SVG: what is released, and what is refused for good."""

from __future__ import annotations

from html import escape

from markupsafe import Markup

from tabprotect.engine.query_space.frontier import Frontier
from tabprotect.engine.query_space.lattice import Lattice
from tabprotect.languages.said import say

STEP, ROW, EDGE, RADIUS = 26, 90, 24, 8
"""Between two sub-tables, between two rows, around all of it; of a dot; in pixels."""

WORDS = {"released": "released", "refused": "refused", "open": say("may be asked for")}


def drawn(lattice: Lattice, released: Frontier, refused: Frontier) -> Markup:
    """The lattice, the full table at the top. Colours come from the page's style.

    Parameters
    ----------
    refused
        What users know to be refused: nothing of the confidential frontier is drawn.
    """
    rows = [list(lattice.level(size)) for size in range(lattice.variables, 0, -1)]
    width = 2 * EDGE + STEP * max(len(row) for row in rows)
    height = 2 * EDGE + ROW * (len(rows) - 1) + 2 * RADIUS
    at = {}
    for number, row in enumerate(rows):
        left = (width - STEP * (len(row) - 1)) / 2
        for place, query in enumerate(row):
            at[query] = (left + STEP * place, EDGE + RADIUS + ROW * number)
    out = [
        f'<svg class="lattice" viewBox="0 0 {width} {height}" role="img" '
        'aria-label="Every sub-table by its number of variables; released ones are filled">'
    ]
    for query, (x, y) in at.items():
        for below in lattice.below(query):
            if below:
                bx, by = at[below]
                kind = say("edge known") if query in released else "edge"
                out.append(f'<line class="{kind}" x1="{x}" y1="{y}" x2="{bx}" y2="{by}"/>')
    for query, (x, y) in at.items():
        state = "released" if query in released else "refused" if query in refused else "open"
        name = escape(", ".join(lattice.names_of(query)))
        out.append(
            f'<circle class="{state}" cx="{x}" cy="{y}" r="{RADIUS}">'
            f"<title>{name}: {WORDS[state]}</title></circle>"
        )
    return Markup("".join([*out, "</svg>"]))
