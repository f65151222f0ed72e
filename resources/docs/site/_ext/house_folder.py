"""The house in which the examples of a page are run: a folder of its own, and a key that is known.

A page leaves nothing in anybody's register. The key follows from the page's name, so that the same
draws are judged by every build: with another key, now and then one would be refused.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from itertools import count
from types import SimpleNamespace
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from tabprotect.engine import agency

VARIABLES = ("TABPROTECT_HOME", "TABPROTECT_REGISTER", "TABPROTECT_POLICY")


def folder_of(env: BuildEnvironment) -> str:
    """The folder in which the blocks of the page that is read are run."""
    folders: dict[str, str] = env.temp_data.setdefault("house_folder", {})
    if env.docname not in folders:
        folders[env.docname] = tempfile.mkdtemp(prefix="tabprotect-docs-")
    return folders[env.docname]


def known_key(name: str) -> SimpleNamespace:
    """In place of chance: what the key of a house is drawn from."""
    made = count()

    def token_hex(length: int) -> str:
        return sha256(f"{name} {next(made)}".encode()).hexdigest()[: 2 * length]

    return SimpleNamespace(token_hex=token_hex)


@contextlib.contextmanager
def at_home(env: BuildEnvironment) -> Iterator[str]:
    """Work in the folder of the page that is read, with a house beside it that is its own."""
    folder = folder_of(env)
    before, secrets = os.getcwd(), agency.secrets
    kept = {name: os.environ.pop(name, None) for name in VARIABLES}
    os.environ["TABPROTECT_HOME"] = f"{folder}-house"
    state: Any = agency
    state.secrets = known_key(env.docname)
    os.chdir(folder)
    try:
        yield folder
    finally:
        os.chdir(before)
        state.secrets = secrets
        del os.environ["TABPROTECT_HOME"]
        os.environ.update({name: value for name, value in kept.items() if value is not None})


def clear(app: Sphinx, doctree: nodes.document) -> None:
    """Take away the folder and the house of the page that has been read."""
    for folder in app.env.temp_data.pop("house_folder", {}).values():
        for path in (folder, f"{folder}-house"):
            shutil.rmtree(path, ignore_errors=True)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", clear)
    return {"parallel_read_safe": True}
