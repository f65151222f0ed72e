"""The search of the site: decision records are not in it, and twenty words find their page first.

The words are asked of the site's own search script, run by Node.js where there is one.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError

UNSEARCHED = ("generated/decisions/", "generated/documents/changelog")
"""Pages for developers, which would stand before those for users."""

FIRST = {
    "install": "install",
    "docker": "install",
    "pipx": "install",
    "pandas": "howto/data_frames",
    "polars": "howto/data_frames",
    "hierarchical": "howto/three_levels",
    "threshold": "howto/house_policy",
    "suppression": "generated/methods/suppression",
    "rounding": "generated/methods/controlled_rounding",
    "cell key": "generated/methods/cell_key",
    "dominance": "howto/magnitudes",
    "turnover": "howto/magnitudes",
    "excel": "howto/messy_file",
    "recipe": "howto/next_year",
    "posterior": "tutorials/reader",
    "error": "generated/error_messages",
    "sdctable": "coming_from",
    "argus": "coming_from",
    "memory": "limits",
    "exit code": "generated/command_line/index",
}
"""A word, and the page that a user who looks for it wants."""

_SCRIPTS = ("language_data.js", "searchtools.js")

_ASK = """
const document = {getElementById: () => null}, window = globalThis;
const SPHINX_HIGHLIGHT_ENABLED = false, _ready = () => {}, _ = (text) => text;
%s
%s
const first = (word) => Search._performSearch(...Search._parseQuery(word)).reverse().map((r) => r[0]);
console.log(JSON.stringify(Object.fromEntries(%s.map((word) => [word, first(word)]))));
"""


def without_records(app: Sphinx) -> None:
    """Leave decision records out of the index of words and titles."""
    builder: Any = app.builder
    if not hasattr(builder, "index_page"):
        return
    feed = builder.index_page

    def index_page(name: str, doctree: object, title: str) -> None:
        if not name.startswith(UNSEARCHED):
            feed(name, doctree, title)

    builder.index_page = index_page


def remember_all(app: Sphinx, env: BuildEnvironment, read: list[str]) -> None:
    """Remember whether all pages are read: of others Sphinx loses the words of their index entries."""
    app.__dict__["_all_read"] = set(read) >= env.found_docs


def found_first(site: Path) -> dict[str, list[str]]:
    """What the search of a built site finds for every word, the best first."""
    static = site / "_static"
    scripts = "\n".join((static / name).read_text("utf-8") for name in _SCRIPTS)
    index = (site / "searchindex.js").read_text("utf-8")
    asked = _ASK % (scripts, index, json.dumps([*FIRST]))
    found = subprocess.run(
        ["node", "-"], input=asked, stdout=subprocess.PIPE, text=True, check=True, timeout=60
    )
    answers: dict[str, list[str]] = json.loads(found.stdout)
    return answers


def check(app: Sphinx, error: Exception | None) -> None:
    """Fail the build where a word finds another page first.

    Raises
    ------
    ExtensionError
        Naming the words, and what they find.
    """
    if error is not None or app.builder.name != "html" or shutil.which("node") is None:
        return
    if not app.__dict__["_all_read"]:
        return
    found = found_first(Path(app.outdir))
    wrong = [f"{word}: {found[word][:3]}" for word, page in FIRST.items() if found[word][:1] != [page]]
    if wrong:
        raise ExtensionError("the search finds another page first: " + "; ".join(wrong))


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", without_records)
    app.connect("env-before-read-docs", remember_all)
    # Behind the builder, which writes the index at the end.
    app.connect("build-finished", check, priority=900)
    return {"parallel_read_safe": True}
