"""The house's own files: its key, its register. As confidential as originals."""

from __future__ import annotations

import contextlib
import getpass
import os
import secrets
import sys
import unicodedata
from pathlib import Path

from tabprotect.engine.atomic import make_folder, place_to_write, write_bytes, written_at
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.paths import is_file, is_there
from tabprotect.languages.messages import message

FOLDER = "TABPROTECT_HOME"
"""The environment variable that names the folder of settings."""

KEY = "TABPROTECT_HOUSE_KEY"
"""The environment variable that names the file of the house's key."""

KEY_BYTES = 32


def named_folder() -> Path | None:
    """The folder that the environment names for all that the program writes by itself."""
    named = os.environ.get(FOLDER)
    return Path(named) if named else None


def folder() -> Path:
    """The folder of the program's settings.

    Raises
    ------
    InputError
        If the system names no home folder.
    """
    named = named_folder()
    if named is not None:
        return named
    try:
        if sys.platform == "win32":
            return Path(os.environ.get("APPDATA") or Path.home()) / "tabprotect"
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Application Support" / "tabprotect"
        return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "tabprotect"
    except RuntimeError:
        raise InputError(
            message("there is no home folder for settings"), hint=message("name one with {FOLDER}", FOLDER)
        ) from None


def user_name() -> str:
    """The login name of the user who runs the program; empty if the system has none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return ""


def letters(name: str) -> str:
    """What a name is compared by: its letters and digits alone, so that "A. Same" and "a.same" are one."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", name).casefold()))


def key_file() -> Path:
    """The path of the file of the house's key, whether or not it exists."""
    named = os.environ.get(KEY)
    return written_at(Path(named) if named else folder() / "house.key")


def drawn_key() -> bytes:
    """A new key of the house, as its file holds it."""
    return f"{secrets.token_hex(KEY_BYTES)}\n".encode()


def key(*, make: bool = False) -> bytes:
    """The key of the house, 256 bits, created at first use.

    A holder of the key can test guesses of a small table against what was published, and against
    marks in the register. After its loss the same table gets other coins.

    Parameters
    ----------
    make
        Whether one is made as well where the environment names a file that is not there: the name
        may be mistyped.

    Raises
    ------
    InputError
        If it cannot be read or created, or is not a key.
    ParameterError
        If the environment names a file that is not there.
    """
    path = key_file()
    try:
        if not is_there(path):
            if os.environ.get(KEY) and not make:
                raise ParameterError(
                    {KEY: message("names no file: {path}", path)},
                    hint=message("is the name right? To make a key there: tabprotect keys house"),
                )
            make_folder(path.parent, private=True)
            # Another program may have created one meanwhile: the first one counts.
            with contextlib.suppress(InputError):
                write_bytes(path, drawn_key(), overwrite=False, private=True)
            path = key_file()
        if not is_file(path):
            raise InputError(message("the key of the house cannot be made here"), file=path, hint=_HINT)
        with path.open("rb") as file:
            found = bytes.fromhex(file.read(1000).decode("ascii").strip())
    except OSError as error:
        raise InputError(
            message("the key of the house cannot be read or made: {strerror}", error.strerror),
            file=path,
            hint=_HINT,
        ) from None
    except ValueError:
        found = b""
    if len(found) != KEY_BYTES:
        raise InputError(
            message("this is no key of a house"),
            file=path,
            hint=message("put the right one back from its copy"),
        )
    return found


LEAST_DIFFERENT = 8
"""Different bytes in a key that was drawn: fewer of 32 come about once in 10^30 keys."""


def key_concerns() -> tuple[str, ...]:
    """Return why the key of the house is no secret, or would be a new one, in words; using it all the same
    is a decision.

    Raises
    ------
    InputError
        If it cannot be read, or is not a key.
    """
    path = key_file()
    if not is_there(path):
        named = message(
            "{KEY} names no file: a new key of the house would be made, and the same table gets other coins",
            KEY,
        )
        return (named,) if os.environ.get(KEY) else ()
    found = []
    if os.name == "posix" and path.stat().st_mode & 0o077:
        found.append(
            message("the key of the house may be read by others than its owner (chmod 600 ends that)")
        )
    if len(set(key())) < LEAST_DIFFERENT:
        found.append(message("the key of the house was not drawn by chance: it can be guessed"))
    return tuple(found)


_HINT = message("name another file with {KEY}, or take fresh coins: the decision is recorded", KEY)


REGISTER = "TABPROTECT_REGISTER"
"""The environment variable that names the house's register: a file, a URL, or ``none``."""

NONE = "none"
"""Stands for no register: publish without one."""


def register_address(said: str | None = None) -> str | None:
    """The address of the register in force; ``None`` if there is to be none."""
    found = said or os.environ.get(REGISTER) or str(folder() / "register.sqlite")
    return None if found == NONE else found


def register_file(url: str) -> Path | None:
    """The file that an address names; ``None`` for a server's database."""
    if "://" in url and not url.startswith("sqlite:///"):
        return None
    return Path(url.removeprefix("sqlite:///"))


def is_own_register(url: str) -> bool:
    """True for the house's own register, which is made at its first use; another is made by hand."""
    return register_file(url) == folder() / "register.sqlite"


def is_unmade(url: str) -> bool:
    """True if a register is the house's own, and not made yet: it has no entries then.

    Raises
    ------
    InputError
        If it is another file, and missing: it may be named wrongly, and nothing is known then.
    """
    path = register_file(url)
    if path is None or is_there(path):
        return False
    if not is_own_register(url):
        raise InputError(
            message("there is no register of releases here"),
            file=path,
            hint=message("is the name right? A new one is made by: tabprotect register new {path}", path),
        )
    return True


def made_register(said: str | None = None) -> str | None:
    """The address of the register in force; ``None`` also for the house's own that was never used.

    Raises
    ------
    InputError
        If it is another file, and missing.
    """
    place = register_address(said)
    return None if place is None or is_unmade(place) else place


def prepared_address(url: str) -> str:
    """The same address; a new file that it names is created for its owner alone (mode 0600).

    Raises
    ------
    InputError
        If the file cannot be created.
    """
    path = register_file(url)
    if path is None:
        return url
    try:
        if path.parent == folder():
            make_folder(path.parent, private=True)
        if not is_there(path) and (place := place_to_write(path)) != path:
            url, path = str(place), place
        # The database library would create it readable for everybody.
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError as error:
        raise InputError(
            message("the register cannot be made: {strerror}", error.strerror),
            file=path,
            hint=message(
                "name another: --register or {REGISTER}; or publish without a register: --register none",
                REGISTER,
            ),
        ) from None
    return url
