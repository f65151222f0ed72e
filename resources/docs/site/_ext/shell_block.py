"""Directives that run commands while building, and write the files that these need.

``shell`` runs lines of ``tabprotect ...`` one after the other, in this process, and shows each with
what it says; a line that begins with ``cat`` shows a file. A command that ends with another code
than ``:exit:`` (0) fails the build. ``file`` writes a file into the page's folder and shows it;
``page`` shows the page that a bundle holds.
"""

from __future__ import annotations

import contextlib
import io
import shlex
from html import escape
from pathlib import Path
from typing import Any, ClassVar
from zipfile import ZipFile

from docutils import nodes
from house_folder import at_home
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from tabprotect.cli.main import main

LINES = 24
"""More of an answer is cut, and said so."""


class Shell(SphinxDirective):
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {
        "exit": int,
        "lines": int,
        "quiet": lambda _: True,
        "hide": lambda _: True,
    }

    def run(self) -> list[nodes.Node]:
        out: list[nodes.Node] = []
        text = "\n".join(self.content).replace("\\\n", "\0")
        for line in filter(None, text.split("\n")):
            shown = line.replace("\0", "\\\n").strip()
            said = self._said(shlex.split(line.replace("\0", " ")))
            if "hide" in self.options:
                continue
            out.append(nodes.literal_block(shown, shown, language="console", classes=["asked"]))
            out[-1]["language"] = "sh"
            if said and "quiet" not in self.options:
                out.append(nodes.literal_block(said, said, language="text", classes=["said"]))
        return out

    def _said(self, words: list[str]) -> str:
        with at_home(self.env) as folder:
            if words[0] == "cat":
                return self._cut(Path(words[1]).read_text(encoding="utf-8"))
            if words[0] != "tabprotect":
                raise self.error(f"only tabprotect is run here, not {words[0]}")
            raw = io.BytesIO()
            said = io.TextIOWrapper(raw, encoding="utf-8", write_through=True)
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                code = main(words[1:])
            text = raw.getvalue().decode().replace(f"{folder}/", "")
        if code != self.options.get("exit", 0):
            raise self.error(f"{shlex.join(words)} ends with {code}: {text}")
        return self._cut(text)

    def _cut(self, text: str) -> str:
        lines = text.rstrip().splitlines()
        most = self.options.get("lines", LINES)
        return "\n".join(lines if len(lines) <= most else [*lines[:most], "..."])


class File(SphinxDirective):
    has_content = True
    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {"language": str}

    def run(self) -> list[nodes.Node]:
        text = "\n".join(self.content) + "\n"
        with at_home(self.env):
            path = Path(self.arguments[0])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        language = self.options.get("language", path.suffix.removeprefix(".") or "text")
        language = {"py": "python", "toml": "toml"}.get(language, "text")
        name = nodes.paragraph(classes=["file-name"])
        name += nodes.literal(self.arguments[0], self.arguments[0])
        return [name, nodes.literal_block(text, text.rstrip(), language=language)]


class Page(SphinxDirective):
    """The page of a bundle, as it opens in a browser."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        with at_home(self.env), ZipFile(self.arguments[0]) as bundle:
            page = bundle.read("page.html").decode()
        title = "The page of a release"
        html = f'<iframe class="page" title="{title}" srcdoc="{escape(page)}"></iframe>'
        return [nodes.raw("", html, format="html")]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("shell", Shell)
    app.add_directive("file", File)
    app.add_directive("page", Page)
    return {"parallel_read_safe": True}
