"""Formulas as MathML, which browsers set by themselves: no script, no font, no network. On paper as drawings."""

from __future__ import annotations

import base64
import html
import io
import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from matplotlib.font_manager import FontProperties
from matplotlib.mathtext import math_to_image
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

UNKNOWN = {r"\\[bB]ig[lr]?(?![a-z])": "", r"\\tfrac": r"\\frac", r"\\(ge|le)(?![a-z])": r"\\\1q", r"\s+": " "}
"""What matplotlib does not know, and what it takes in its place."""


def _inline(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _block(writer: HTML5Translator, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def drawn(formula: str) -> str:
    """A formula as a picture, for what sets no MathML."""
    known = formula
    for pattern, word in UNKNOWN.items():
        known = re.sub(pattern, word, known)
    out = io.BytesIO()
    depth = math_to_image(f"${known}$", out, format="svg", dpi=72, prop=FontProperties(size=9))
    said = html.escape(formula)
    image = base64.b64encode(out.getvalue()).decode()
    return (
        f'<img src="data:image/svg+xml;base64,{image}" style="vertical-align: {-depth:.1f}pt" alt="{said}">'
    )


def _inline_drawn(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(drawn(node.astext()))
    raise nodes.SkipNode


def _block_drawn(writer: HTML5Translator, node: nodes.math_block) -> None:
    writer.body.append(f"<p>{drawn(node.astext())}</p>")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.add_html_math_renderer("drawn", (_inline_drawn, None), (_block_drawn, None))
    return {"parallel_read_safe": True}
