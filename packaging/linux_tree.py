"""The files of the program as a Linux system lays them out: what every package of it holds."""

from __future__ import annotations

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
IDENTIFIER = "org.tabprotect.Tabprotect"
LINUX = ROOT / "packaging" / "linux"

FILES = {
    f"{IDENTIFIER}.desktop": f"usr/share/applications/{IDENTIFIER}.desktop",
    f"{IDENTIFIER}.metainfo.xml": f"usr/share/metainfo/{IDENTIFIER}.metainfo.xml",
    f"{IDENTIFIER}.mime.xml": f"usr/share/mime/packages/{IDENTIFIER}.xml",
}
"""Where what a desktop looks for goes."""

ICON = f"usr/share/icons/hicolor/scalable/apps/{IDENTIFIER}.svg"


def lay_out(tree: Path) -> None:
    """Write ``dist/tabprotect`` and what belongs to it below an empty folder."""
    program = DIST / "tabprotect"
    if not program.is_dir():
        raise SystemExit("there is no dist/tabprotect: run python packaging/build.py first")
    shutil.copytree(program, tree / "usr/lib/tabprotect", symlinks=True)
    (tree / "usr/bin").mkdir(parents=True)
    (tree / "usr/bin/tabprotect").symlink_to("../lib/tabprotect/tabprotect")
    sources = {LINUX / name: place for name, place in FILES.items()}
    sources[ROOT / "resources/icons/tabprotect.svg"] = ICON
    sources[ROOT / "LICENSE"] = "usr/share/doc/tabprotect/copyright"
    sources[program / "THIRD-PARTY.txt"] = "usr/share/doc/tabprotect/THIRD-PARTY.txt"
    for source, place in sources.items():
        (tree / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, tree / place)
    for found in (tree, *tree.rglob("*")):
        if not found.is_symlink():
            executable = found.is_dir() or found.stat().st_mode & 0o100
            found.chmod(0o755 if executable else 0o644)
