"""The licences of what the program is made of: its own, and those of everybody else's in it."""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

from tabprotect.version import RESOURCES

THIRD_PARTY = "THIRD-PARTY.txt"
"""The file of an installer, beside the program, that holds them."""

QT = frozenset({"pyside6-essentials", "shiboken6", "pyside6-addons", "pyside6"})

EXTRAS = ("gui", "server", "report", "frames", "statistics", "engines", "cluster", "postgresql")
"""The extras whose packages an installation may have."""

EXCHANGE = """\
Qt, PySide6 and Shiboken6 are free software of The Qt Company and others, used here under the GNU
Lesser General Public License, version 3 (LGPL-3.0-only), whose text and that of the GNU General Public
License to which it refers stand at the end of this file. The program loads them as shared libraries and
has not changed them. You may exchange them for versions of your own that have the same interface: in an
installed program they are the folders PySide6 and shiboken6 inside the folder _internal beside the
executable (Linux: /usr/lib/tabprotect/_internal; Windows: the folder of the installation; macOS:
tabprotect.app/Contents/MacOS/program/_internal, to be signed again by codesign); replace the files of
the same names there, and start the program. In a Python environment: pip install, or build, the
packages PySide6_Essentials and shiboken6 of your own. You may take the program apart and look into it as
far as finding faults in such changes needs. The sources of Qt and PySide6 in the versions named below
are at https://download.qt.io/official_releases/QtForPython/ and https://download.qt.io/archive/qt/; whoever
received the program from us gets them from us too, on request, for three years.
"""

LINE = "=" * 98
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_TEXTS = re.compile(r"(?i)(^|/)(licen[cs]e|copying|notice|authors|copyright)[^/]*$")


def normal(name: str) -> str:
    """The name of a distribution as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def installed() -> list[str]:
    """The distributions that this program declares and this environment has, with all they need."""
    found: dict[str, None] = {}
    waiting = [("tabprotect", frozenset(EXTRAS))]
    while waiting:
        name, extras = waiting.pop()
        try:
            needs = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue
        if normal(name) in found:
            continue
        found[normal(name)] = None
        for need in needs:
            said, _, marker = need.partition(";")
            extra = re.search(r"""extra\s*==\s*["']([^"']+)["']""", marker)
            word = _NAME.match(said)
            if word is not None and (extra is None or extra[1] in extras):
                waiting.append((word[0], frozenset()))
    return sorted(set(found) - {"tabprotect"})


def third_party(names: Iterable[str], system: Iterable[tuple[str, str]] = ()) -> str:
    """Say who made what, under which licence, in the words of their packages' metadata.

    Parameters
    ----------
    names
        Distributions.
    system
        Libraries of the system that an installer carries: their names, and what is said of them.

    Raises
    ------
    PackageNotFoundError
        For a distribution that is not installed.
    """
    parts = [
        "What tabprotect is made of besides itself, and under which licences.",
        LINE,
        "Qt for Python: how to exchange it\n\n" + EXCHANGE,
        *_python(),
    ]
    for name in sorted({normal(name) for name in names}):
        parts += [LINE, _of(metadata.distribution(name))]
    for library, said in system:
        parts += [LINE, f"{library}\n\n{said}"]
    for name in ("LGPL-3.0", "GPL-3.0"):
        text = (RESOURCES / "licences" / f"{name}.txt").read_text("utf-8")
        parts += [LINE, f"{name}\n\n{text}"]
    return "\n".join(parts) + "\n"


def _python() -> Iterator[str]:
    said = "Python Software Foundation License: https://docs.python.org/3/license.html"
    places = (Path(sysconfig.get_path("stdlib")) / "LICENSE.txt", Path(sys.base_prefix) / "LICENSE.txt")
    text = next((place.read_text("utf-8", "replace") for place in places if os.path.isfile(place)), "")
    yield LINE
    yield f"Python {sys.version.partition(' ')[0]}\n{said}\n\n{text}"


def _of(one: metadata.Distribution) -> str:
    """A distribution: its name, version, licence and home, and the texts it brings."""
    said = one.metadata
    kinds = [line.rpartition(":: ")[2] for line in said.get_all("Classifier") or () if "License ::" in line]
    stated = _first(said, "License-Expression") or _first(said, "License")
    brief = "" if "\n" in stated.strip() else stated.strip()
    first = brief or "; ".join(kinds) or stated.strip().partition("\n")[0] or "see its home"
    homes = [_first(said, "Home-page"), *(said.get_all("Project-URL") or ())]
    home = next((home.rpartition(" ")[2] for home in homes if home and home != "UNKNOWN"), "")
    head = f"{said['Name']} {said['Version']}\nLicence: {first}\n{home}".rstrip()
    if normal(said["Name"]) in QT:
        head += "\nUsed here under LGPL-3.0-only: see above how to exchange it, and below for the text."
    texts = [stated] if "\n" in stated.strip() else []
    for file in one.files or ():
        place = str(file).replace("\\", "/")
        if ".dist-info/" in place and _TEXTS.search(place):
            texts.append(Path(str(file.locate())).read_text("utf-8", "replace"))
    return "\n\n".join([head, *dict.fromkeys(text.strip() for text in texts)]) + "\n"


def _first(said: metadata.PackageMetadata, field: str) -> str:
    return next(iter(said.get_all(field) or ()), "")


def text() -> str:
    """All of it: of an installer what it carries, else what this environment holds.

    Our own licence comes first.
    """
    if getattr(sys, "frozen", False):
        for place in (Path(sys.executable).parent, Path(str(getattr(sys, "_MEIPASS", ".")))):
            if os.path.isfile(place / THIRD_PARTY):
                return (place / THIRD_PARTY).read_text("utf-8")
    return _own() + third_party(installed())


def _own() -> str:
    said = (RESOURCES / "licences" / "tabprotect.txt").read_text("utf-8")
    return f"tabprotect\n\n{said}\n{LINE}\n"


def for_installer(names: Iterable[str], system: Iterable[tuple[str, str]] = ()) -> str:
    """Say what an installer carries: see :func:`third_party`, our own licence first."""
    return _own() + third_party(names, system)
