"""An AppImage of the one-folder program: one file that runs on any Linux with glibc 2.34 or later.

``python packaging/appimage.py --runtime FILE`` writes ``dist/tabprotect-VERSION-MACHINE.AppImage``.
The file is a small starter, the *runtime* of the AppImage project (release "continuous" of its
repository type2-runtime; nothing here downloads it), followed by a squashfs image of the program.
Without ``--runtime`` only the image is written and tried: it is unpacked elsewhere and started there.
Needs ``mksquashfs`` (package squashfs-tools).
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path

from linux_tree import DIST, FILES, ICON, IDENTIFIER, lay_out

import tabprotect

START = """#!/bin/sh
exec "$(dirname "$(readlink -f "$0")")/usr/lib/tabprotect/tabprotect" "${@:-open}"
"""


def image(place: Path) -> None:
    """The program with its starter, menu entry and icon at the top, as one squashfs image."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tabprotect.AppDir"
        tree.mkdir()
        lay_out(tree)
        (tree / "AppRun").write_text(START)
        (tree / "AppRun").chmod(0o755)
        shutil.copy(tree / FILES[f"{IDENTIFIER}.desktop"], tree)
        shutil.copy(tree / ICON, tree)
        place.unlink(missing_ok=True)
        packed = (
            "-root-owned",
            "-noappend",
            "-comp",
            "zstd",
            "-Xcompression-level",
            "6",
            "-quiet",
            "-no-progress",
        )
        subprocess.run(["mksquashfs", str(tree), str(place), *packed], check=True)


def smoke(place: Path) -> None:
    """Unpack the image and start it from there."""
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder) / "unpacked"
        unpack = ["unsquashfs", "-quiet", "-no-progress", "-d", str(there), str(place)]
        subprocess.run(unpack, check=True, stdout=subprocess.DEVNULL)
        picture = Path(folder) / "window.png"
        environment = os.environ | {"QT_QPA_PLATFORM": "offscreen", "TABPROTECT_HOME": folder}
        start = [str(there / "AppRun"), "open", "example:duncan-roehrig-4x4"]
        subprocess.run([*start, "--smoke", str(picture)], check=True, env=environment, timeout=300)
        assert picture.read_bytes()[:4] == b"\x89PNG", "the window painted nothing"


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runtime", type=Path, help="the starter that comes before the image")
    arguments = parser.parse_args()
    name = f"tabprotect-{tabprotect.__version__}-{platform.machine()}"
    place = DIST / f"{name}.squashfs"
    image(place)
    smoke(place)
    if arguments.runtime:
        whole = DIST / f"{name}.AppImage"
        whole.write_bytes(arguments.runtime.read_bytes() + place.read_bytes())
        whole.chmod(0o755)
        place.unlink()
        place = whole
    print(f"{place.name}: {place.stat().st_size / 2**20:.0f} MiB, window painted")


if __name__ == "__main__":
    main()
