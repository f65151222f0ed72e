"""A directive that starts a server while building, asks it, and ends it.

``serve`` runs ``tabprotect serve ...`` on a free port of this machine and asks for the path that
its argument names; a server that does not answer fails the build. ``:page:`` names a path whose page
is shown as a browser has it.
"""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
import time
import urllib.request
from html import escape
from typing import Any, ClassVar
from urllib.error import URLError

from docutils import nodes
from house_folder import at_home
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

SECONDS = 60
"""Until a server answers."""


STYLE = '<link rel="stylesheet" href="/style.css">'


class Serve(SphinxDirective):
    has_content = True
    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {"page": str}

    def run(self) -> list[nodes.Node]:
        line = "\n".join(self.content).strip()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        words = shlex.split(line)
        if words[:2] != ["tabprotect", "serve"]:
            raise self.error("only tabprotect serve is started here")
        with at_home(self.env):
            command = [sys.executable, "-m", *words, "--port", str(port)]
            server = subprocess.Popen(
                command, env=dict(os.environ), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            try:
                here = f"http://127.0.0.1:{port}"
                said = self._asked(server, here + self.arguments[0])
                page = self.options.get("page")
                if page:
                    look = self._asked(server, f"{here}/style.css")
                    shown = self._asked(server, here + page)
            finally:
                server.terminate()
                server.wait(SECONDS)
        asked = f"{line}\ncurl http://127.0.0.1:8000{self.arguments[0]}"
        out = [nodes.literal_block(asked, asked, language="sh", classes=["asked"])]
        out.append(nodes.literal_block(said, said, language="text", classes=["said"]))
        if page:
            shown = shown.replace(STYLE, f"<style>{look}</style>")
            title = f"{page} of the server"
            html = f'<iframe class="page low" sandbox="" title="{title}" srcdoc="{escape(shown)}"></iframe>'
            out.append(nodes.raw("", html, format="html"))
        return out

    def _asked(self, server: subprocess.Popen[bytes], address: str) -> str:
        end = time.monotonic() + SECONDS
        while server.poll() is None and time.monotonic() < end:
            try:
                with urllib.request.urlopen(address, timeout=SECONDS) as answer:
                    return answer.read().decode().strip()
            except URLError:
                time.sleep(0.1)
        raise self.error(f"the server does not answer {address}")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("serve", Serve)
    return {"parallel_read_safe": True}
