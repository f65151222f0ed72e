"""A directive that runs Python while building and shows the code with what it printed.

Blocks of one page share their names. A block that fails, fails the build.
"""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from typing import Any, ClassVar

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class Run(SphinxDirective):
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {"hide-code": lambda _: True}

    def run(self) -> list[nodes.Node]:
        pages: dict[str, dict[str, Any]] = self.env.temp_data.setdefault("run_block", {})
        names = pages.setdefault(self.env.docname, {})
        code = "\n".join(self.content)
        said = io.StringIO()
        before = os.getcwd()
        folder = names.setdefault("__folder__", tempfile.mkdtemp(prefix="tabprotect-docs-"))
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(said):
                exec(compile(code, f"<{self.env.docname}>", "exec"), names)
        except Exception as error:
            raise self.error(f"the example fails: {type(error).__name__}: {error}") from error
        finally:
            os.chdir(before)
        out: list[nodes.Node] = []
        if "hide-code" not in self.options:
            out.append(nodes.literal_block(code, code, language="python"))
        text = said.getvalue().rstrip()
        if text:
            out.append(nodes.literal_block(text, text, language="text"))
        return out


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("run", Run)
    return {"parallel_read_safe": True}
