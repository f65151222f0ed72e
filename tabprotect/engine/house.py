"""Where the house keeps what is its own: its key, its register. As confidential as originals."""

from __future__ import annotations

import contextlib
import getpass
import os
import secrets
import sys
from pathlib import Path

from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.errors import InputError
from tabprotect.languages.said import say

FOLDER = "TABPROTECT_HOME"
"""The environment variable that names the folder of settings."""

KEY = "TABPROTECT_HOUSE_KEY"
"""The environment variable that names the file of the house's key."""

KEY_BYTES = 32


def folder() -> Path:
    """The folder of the program's settings.

    Raises
    ------
    InputError
        When the system names no home.
    """
    named = os.environ.get(FOLDER)
    if named:
        return Path(named)
    try:
        if sys.platform == "win32":
            return Path(os.environ.get("APPDATA") or Path.home()) / "tabprotect"
        if sys.platform == "darwin":
            return Path.home() / "Library" / say("Application Support") / "tabprotect"
        return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "tabprotect"
    except RuntimeError:
        raise InputError(
            say("there is no home folder for settings"),
            hint=say("name one with {FOLDER}", FOLDER=FOLDER),
        ) from None


def user_name() -> str:
    """The login name of whoever runs the program; empty where the system knows none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return ""


def key_file() -> Path:
    """The file of the house's key, whether it is there or not."""
    named = os.environ.get(KEY)
    return Path(named) if named else folder() / "house.key"


def key() -> bytes:
    """The key of the house, 256 bits, made at first use.

    Who has it can test guesses of a small table against what was published, and against marks in
    the register. Who loses it gets other coins for the same table from then on.

    Raises
    ------
    InputError
        When it cannot be read or made, or is no key.
    """
    path = key_file()
    try:
        if not path.exists():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Another program may have made one meanwhile: the first one holds.
            with contextlib.suppress(InputError):
                text = secrets.token_hex(KEY_BYTES) + "\n"
                write_bytes(path, text.encode(), overwrite=False, private=True)
        if not path.is_file():
            raise InputError(say("the key of the house cannot be made here"), file=path, hint=_HINT)
        with path.open("rb") as file:
            found = bytes.fromhex(file.read(1000).decode("ascii").strip())
    except OSError as error:
        raise InputError(
            say("the key of the house cannot be read or made: {strerror}", strerror=error.strerror),
            file=path,
            hint=_HINT,
        ) from None
    except ValueError:
        found = b""
    if len(found) != KEY_BYTES:
        raise InputError(
            say("this is no key of a house"),
            file=path,
            hint=say("put the right one back from its copy"),
        )
    return found


_HINT = say("name another file with {KEY}, or take fresh coins: the decision is recorded", KEY=KEY)


REGISTER = "TABPROTECT_REGISTER"
"""The environment variable that names the house's register: a file, a URL, or ``none``."""

NONE = "none"
"""In place of a register: publish without one."""


def register_address(said: str | None = None) -> str | None:
    """The address of the register in force; ``None`` where there is to be none."""
    found = said or os.environ.get(REGISTER) or str(folder() / "register.sqlite")
    return None if found == NONE else found


def is_missing(url: str) -> bool:
    """Whether a register is a file that nobody has made yet: it has no entries then."""
    return ("://" not in url or url.startswith("sqlite:///")) and not Path(
        url.removeprefix("sqlite:///")
    ).exists()


def prepared_address(url: str) -> str:
    """The same address, with a file of its owner alone (mode 0600) where it names a new one.

    Raises
    ------
    InputError
        When the file cannot be made.
    """
    path = Path(url.removeprefix("sqlite:///"))
    if "://" in url and not url.startswith("sqlite:///"):
        return url
    try:
        if path.parent == folder():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # The database's library would make it with everybody's rights.
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError as error:
        raise InputError(
            say("the register cannot be made: {strerror}", strerror=error.strerror),
            file=path,
            hint=say(
                "name another: --register or {REGISTER}; or publish without a register: --register none",
                REGISTER=REGISTER,
            ),
        ) from None
    return url
