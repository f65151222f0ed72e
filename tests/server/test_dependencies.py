"""What a server that strangers reach is made of: pinned packages, and nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import packages_distributions, version
from pathlib import Path

PINS = Path(__file__).parents[2] / "packaging" / "pins" / "all.txt"

PROGRAM = """
import sys
# Starlette takes it where it happens to be installed; nothing here needs it.
sys.modules["python_multipart"] = None
import asyncio, httpx
before = set(sys.modules)
from tabprotect.server.hosting import running
from tabprotect.server.application import application, started
from tabprotect.server.service import of_source
server = started(of_source("example:czech-autoworkers"), sys.argv[1])
async def walk():
    transport = httpx.ASGITransport(app=application(server))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        asked = {"variables": ["A", "B"]}
        await client.post("/tables/czech-autoworkers/queries", json=asked)
        for name in (await client.get("/config")).json()["formats"]:
            path = "/tables/czech-autoworkers/data?variables=A,B&format=" + name
            assert (await client.get(path)).status_code == 200
asyncio.run(walk())
server.accounts.add("ann")
server.close()
print(*{name.partition(".")[0] for name in set(sys.modules) - before})
"""


def test_nothing_is_loaded_that_is_not_pinned(tmp_path: Path) -> None:
    """Not what the test itself loads to ask: the client and what it shares with the server."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "h.sqlite")],
        check=True,
        capture_output=True,
        text=True,
    )
    known, loaded = packages_distributions(), set(done.stdout.split())
    found = {name for module in loaded for name in known.get(module, ())} - {"tabprotect"}
    pins = dict(re.findall(r"(?m)^([\w.-]+)==([\w.]+)", PINS.read_text().lower()))
    installed = {re.sub("[-_.]+", "-", name).lower(): version(name) for name in found}
    assert {"starlette", "uvicorn", "sqlalchemy", "jinja2", "argon2-cffi"} <= set(installed)
    # Neither a window nor a client.
    assert not {"pyside6-essentials", "httpx", "requests"} & set(installed)
    assert {name: pins.get(name) for name in installed} == installed
