"""A directive that runs Python while building and shows the code with what it printed.

Blocks of one page share their names. A block that fails, fails the build. What the last line is, is
shown as in a notebook (``:value:``), and so are figures of matplotlib. A page may be a notebook
(``.ipynb``): its cells are run so, and no output is kept in the file.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import importlib
import io
import json
import sys
from typing import Any, ClassVar

from docutils import nodes
from house_folder import at_home
from myst_parser.parsers.sphinx_ import MystParser
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class Run(SphinxDirective):
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {"hide-code": lambda _: True, "value": lambda _: True, "alt": str}

    def run(self) -> list[nodes.Node]:
        pages: dict[str, dict[str, Any]] = self.env.temp_data.setdefault("run_block", {})
        names = pages.setdefault(self.env.docname, {})
        code = "\n".join(self.content)
        said = io.StringIO()
        try:
            # Every page has a folder of its own under the same name, ".": what was found there is another page's.
            importlib.invalidate_caches()
            sys.path_importer_cache.pop(".", None)
            with at_home(self.env), contextlib.redirect_stdout(said):
                value = run_cell(code, f"<{self.env.docname}>", names, "value" in self.options)
        except Exception as error:
            raise self.error(f"the example fails: {type(error).__name__}: {error}") from error
        out: list[nodes.Node] = []
        if "hide-code" not in self.options:
            out.append(nodes.literal_block(code, code, language="python"))
        text = said.getvalue().rstrip()
        if text:
            out.append(nodes.literal_block(text, text, language="text"))
        if hasattr(value, "_repr_html_"):
            html = f'<div class="cell-output">{value._repr_html_()}</div>'
            out.append(nodes.raw("", html, format="html"))
        elif value is not None and not is_drawing(value):
            out.append(nodes.literal_block(repr(value), repr(value), language="text"))
        out += [
            nodes.raw("", picture(png, self.options.get("alt", "figure")), format="html") for png in drawn()
        ]
        return out


def run_cell(code: str, name: str, names: dict[str, Any], shows: bool) -> object:
    """Run a cell, and return what its last line is worth where that is shown."""
    lines = ast.parse(code, name)
    last = lines.body[-1] if lines.body else None
    if not shows or not isinstance(last, ast.Expr):
        exec(compile(lines, name, "exec"), names)
        return None
    exec(compile(ast.Module(lines.body[:-1], []), name, "exec"), names)
    return eval(compile(ast.Expression(last.value), name, "eval"), names)


def is_drawing(value: object) -> bool:
    return type(value).__module__.startswith("matplotlib.")


def drawn() -> list[bytes]:
    """The figures that a cell has made, as PNG; they are closed."""
    plt = sys.modules.get("matplotlib.pyplot")
    if plt is None:
        return []
    out = []
    for number in plt.get_fignums():
        file = io.BytesIO()
        plt.figure(number).savefig(file, dpi=110, metadata={"Software": None})
        out.append(file.getvalue())
    plt.close("all")
    return out


def picture(png: bytes, alt: str) -> str:
    data = base64.b64encode(png).decode()
    return f'<p><img style="max-width: 100%" alt="{alt}" src="data:image/png;base64,{data}"></p>'


class NotebookParser(MystParser):  # type: ignore[misc]
    """A notebook as a page: its text, and its code as blocks that are run."""

    supported: ClassVar[tuple[str, ...]] = ("notebook",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        parts = []
        for cell in json.loads(inputstring)["cells"]:
            text = "".join(cell["source"])
            code = cell["cell_type"] == "code"
            parts.append(f"```{{run}}\n:value:\n\n{text}\n```" if code else text)
        super().parse("\n\n".join(parts), document)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("run", Run)
    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(NotebookParser)
    return {"parallel_read_safe": True}
