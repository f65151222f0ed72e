"""A Debian package of the one-folder program, for Debian 12, Ubuntu 22.04 and later.

``python packaging/deb.py`` packs ``dist/tabprotect`` (see ``build.py``) into
``dist/tabprotect_VERSION_ARCH.deb``: the program under ``/usr/lib/tabprotect`` and a link in
``/usr/bin``, the entry in the menu, its icon, and the type of project files. It needs no Python on
the machine that installs it. ``--smoke`` looks into the package instead of trusting that it was
written; ``--tree FOLDER`` installs it into a bare system tree as root, starts the program there,
paints its window, removes it and asserts that nothing is left.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
from pathlib import Path

from linux_tree import DIST, FILES, ICON, ROOT, lay_out

import tabprotect

CONTROL = """\
Package: tabprotect
Version: {version}
Architecture: {architecture}
Maintainer: The tabprotect developers <tabprotect@example.org>
Installed-Size: {kibibytes}
Depends: {depends}
Section: science
Priority: optional
Description: statistical disclosure control of contingency tables
 Protects tables of counts before they are published, by cyclic perturbation and
 thirteen other methods, and shows what readers of a release would know.
"""


def output(*command: str) -> str:
    """Standard output of a command that must succeed."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def depends() -> str:
    """System libraries that Qt loads: the list of the README's command, without what builds the program."""
    listed = (ROOT / "packaging" / "apt-packages.txt").read_text().split()
    needed = (name for name in listed if name.startswith(("lib", "fonts")))
    return ", ".join(name for name in needed if not name.endswith("-dev"))


def build() -> Path:
    """Pack the files as a Debian package; owned by root, whoever builds."""
    architecture = output("dpkg", "--print-architecture")
    package = DIST / f"tabprotect_{tabprotect.__version__}_{architecture}.deb"
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        lay_out(tree)
        sizes = sum(f.stat().st_size for f in tree.rglob("*") if f.is_file())
        (tree / "DEBIAN").mkdir()
        (tree / "DEBIAN/control").write_text(
            CONTROL.format(
                version=tabprotect.__version__,
                architecture=architecture,
                kibibytes=sizes // 1024,
                depends=depends(),
            )
        )
        package.unlink(missing_ok=True)
        # Packed by zstd, which Debian 12 and Ubuntu 22.04 both open: xz takes ten times as long.
        output("dpkg-deb", "-Zzstd", "--root-owner-group", "--build", str(tree), str(package))
    return package


def smoke(package: Path) -> None:
    """The package says what it is and holds what a desktop looks for."""
    assert output("dpkg-deb", "--field", str(package), "Package") == "tabprotect"
    held = output("dpkg-deb", "--contents", str(package))
    for name in (
        *FILES.values(),
        ICON,
        "usr/lib/tabprotect/tabprotect",
        "usr/share/doc/tabprotect/THIRD-PARTY.txt",
        "usr/bin/tabprotect ->",
    ):
        if f"./{name}" not in held:
            raise SystemExit(f"the package lacks {name}")
    print(f"{package.name}: {package.stat().st_size / 2**20:.0f} MiB")


def install(package: Path, tree: Path) -> None:
    """Install into a bare tree, start, remove: nothing stays behind."""

    def inside(*command: str) -> str:
        return output("chroot", str(tree), "env", "QT_QPA_PLATFORM=offscreen", *command)

    apt = ("apt-get", "-qq", "-y", "--no-install-recommends")
    places = ["usr/lib/tabprotect", "usr/bin/tabprotect", ICON, *FILES.values()]
    shutil.copy(package, tree / "tmp" / package.name)
    inside("apt-get", "-qq", "update")
    inside(*apt, "install", f"/tmp/{package.name}")
    example = "example:duncan-roehrig-4x4"
    inside("tabprotect", "protect", example, "--out", "/tmp/release.zip", "--register", "none")
    inside("tabprotect", "verify", "/tmp/release.zip")
    inside("tabprotect", "open", example, "--smoke", "/tmp/window.png")
    picture = (tree / "tmp/window.png").read_bytes()
    assert picture[:4] == b"\x89PNG", "the window painted nothing"
    inside(*apt, "purge", "tabprotect")
    left = [place for place in places if (tree / place).exists() or (tree / place).is_symlink()]
    assert not left, f"left behind: {left}"
    print(f"installed, started and removed in {tree}")


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="then look into the package")
    parser.add_argument("--tree", type=Path, help="then install it into this bare system, as root")
    arguments = parser.parse_args()
    package = build()
    if arguments.smoke:
        smoke(package)
    if arguments.tree:
        install(package, arguments.tree)


if __name__ == "__main__":
    main()
