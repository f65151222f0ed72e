"""The pictures of the window: one process takes those of the tutorials, and then what pages ask for.

``window`` does, in a window of its own and in the page's folder, what it is told in Python (``window``,
``settle``), and shows the window as it is then.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from house_folder import VARIABLES, at_home
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

Studio = subprocess.Popen[str]


def take_pictures(app: Sphinx) -> None:
    """Write ``generated/window/*.png``; a window that fails, fails the build."""
    out = Path(app.srcdir) / "generated" / "window"
    out.mkdir(parents=True)
    script = Path(__file__).with_name("take_pictures.py")
    with tempfile.TemporaryFile("w+") as said:
        studio = subprocess.Popen(
            [sys.executable, str(script), str(out)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
        )
        app.__dict__["studio"] = studio
        if answer(studio) != "ready":
            said.seek(0)
            raise ExtensionError(f"no pictures of the window:\n{said.read()}")


def answer(studio: Studio) -> str:
    """What the process says next; nothing after it has ended."""
    assert studio.stdout is not None
    return studio.stdout.readline().strip()


class Window(SphinxDirective):
    has_content = True
    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[dict[str, Any]] = {}

    def run(self) -> list[nodes.Node]:
        studio: Studio = self.env.app.__dict__["studio"]
        assert studio.stdin is not None
        name = f"generated/window/{self.env.docname.replace('/', '-')}-{self.lineno}.png"
        with at_home(self.env) as folder:
            asked = {
                "folder": folder,
                "house": {key: os.environ[key] for key in VARIABLES if key in os.environ},
                "code": "\n".join(self.content),
                "out": str(Path(self.env.srcdir) / name),
            }
            studio.stdin.write(json.dumps(asked) + "\n")
            studio.stdin.flush()
            said = answer(studio)
        if said != "taken":
            why = json.loads(said) if said else "it has ended"
            raise self.error(f"no picture of the window: {why}")
        return [nodes.image(uri=f"/{name}", alt=self.arguments[0])]


def end(app: Sphinx, exception: Exception | None) -> None:
    """Nobody asks any more."""
    studio: Studio | None = app.__dict__.pop("studio", None)
    if studio is not None:
        assert studio.stdin is not None and studio.stdout is not None
        studio.stdin.close()
        studio.stdout.close()
        if studio.wait() and exception is None:
            raise ExtensionError("the window did not close")


def setup(app: Sphinx) -> dict[str, Any]:
    # After the folder of what is made was emptied.
    app.connect("builder-inited", take_pictures, priority=600)
    app.connect("build-finished", end)
    app.add_directive("window", Window)
    return {"parallel_read_safe": False}
