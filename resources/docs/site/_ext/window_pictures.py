"""The pictures of the window, taken by one process before the pages are read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError


def take_pictures(app: Sphinx) -> None:
    """Write ``generated/window/*.png``; a window that fails, fails the build."""
    out = Path(app.srcdir) / "generated" / "window"
    out.mkdir(parents=True)
    script = Path(__file__).with_name("take_pictures.py")
    done = subprocess.run([sys.executable, str(script), str(out)], capture_output=True, text=True)
    if done.returncode:
        raise ExtensionError(f"no pictures of the window:\n{done.stderr}")


def setup(app: Sphinx) -> dict[str, Any]:
    # After the folder of what is made was emptied.
    app.connect("builder-inited", take_pictures, priority=600)
    return {"parallel_read_safe": True}
