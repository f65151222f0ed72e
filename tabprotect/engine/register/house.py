"""Where the house keeps what is its own: the register, and the key of its fingerprints."""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
from pathlib import Path

from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.errors import InputError

FOLDER = "TABPROTECT_HOME"
"""The environment variable that names the folder of settings."""

REGISTER = "TABPROTECT_REGISTER"
"""The environment variable that names the house's register: a file, a URL, or ``none``."""

NONE = "none"
"""In place of a register: publish without one."""

KEY = "register.key"
KEY_BYTES = 32


def folder() -> Path:
    """The folder of the program's settings."""
    named = os.environ.get(FOLDER)
    if named:
        return Path(named)
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home()) / "tabprotect"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "tabprotect"
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "tabprotect"


def address(said: str | None = None) -> str | None:
    """The address of the register in force; ``None`` where there is to be none."""
    found = said or os.environ.get(REGISTER) or str(folder() / "register.sqlite")
    return None if found == NONE else found


def prepared(url: str) -> str:
    """The same address, with a file of its owner alone (mode 0600) where it names a new one.

    Raises
    ------
    InputError
        When the file cannot be made.
    """
    if "://" in url:
        return url
    path = Path(url)
    try:
        if path.parent == folder():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # The database's library would make it with everybody's rights.
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError as error:
        raise InputError(
            f"the register cannot be made: {error.strerror}",
            file=path,
            hint=f"name another with --register or {REGISTER}, or publish with --register none",
        ) from None
    return url


def key() -> bytes:
    """The key of the house's fingerprints, made at first use. As confidential as the originals.

    Raises
    ------
    InputError
        When it cannot be read or made, or is no key.
    """
    path = folder() / KEY
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            # Another program may have made one meanwhile: the first one holds.
            with contextlib.suppress(InputError):
                text = secrets.token_hex(KEY_BYTES) + "\n"
                write_bytes(path, text.encode(), overwrite=False, private=True)
        found = bytes.fromhex(path.read_text(encoding="ascii").strip())
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=path) from None
    except ValueError:
        raise InputError("this is no key of a house", file=path) from None
    if len(found) != KEY_BYTES:
        raise InputError("this is no key of a house", file=path)
    return found
