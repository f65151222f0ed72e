"""The manifest: SHA-256 and size of every file, and the versions that wrote them.

It finds damage and careless edits. It does not find a forger who recomputes the hashes: compare
the fingerprint of the whole zip with one that was published elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping

from tabprotect.engine.bundle.archive import dump_json, parse_json, sha256
from tabprotect.engine.errors import BundleError
from tabprotect.version import __version__

NAME = "manifest.json"
FORMAT_VERSION = 2
"""Version 1 lists every cycle of a mechanism cell by cell; version 2 names its design or has arrays."""


def sealed(files: Mapping[str, bytes], kind: str) -> dict[str, bytes]:
    """The files with their manifest at the end.

    Parameters
    ----------
    kind
        What the archive is, such as ``"tabprotect release"``.
    """
    manifest = {
        "format": kind,
        "format_version": FORMAT_VERSION,
        "written_by": f"tabprotect {__version__}",
        "files": {
            name: {"bytes": len(data), "sha256": sha256(data)} for name, data in files.items()
        },
    }
    return {**files, NAME: dump_json(manifest)}


def check_files(files: Mapping[str, bytes], kind: str, *, beside: str = "") -> None:
    """Compare every file with the manifest, but one that stands beside it.

    Raises
    ------
    BundleError
        Naming what is missing, unlisted or changed.
    """
    if NAME not in files:
        raise BundleError(f"{NAME} is missing", hint=f"this is no {kind}")
    manifest = parse_json(NAME, files[NAME])
    if not isinstance(manifest, dict) or manifest.get("format") != kind:
        raise BundleError(f"{NAME}: this is no {kind}")
    version = manifest.get("format_version")
    if type(version) is not int or not 1 <= version <= FORMAT_VERSION:
        raise BundleError(
            f"{NAME}: format version {manifest.get('format_version')!r} is unknown; this program "
            f"reads versions up to {FORMAT_VERSION}",
            hint="open it with a newer tabprotect",
        )
    listed = manifest.get("files")
    if not isinstance(listed, dict):
        raise BundleError(f'{NAME}: "files" is missing')
    there = set(files) - {NAME, beside}
    if unlisted := sorted(there - set(listed)):
        raise BundleError(f"{unlisted[0]} is not listed in {NAME}")
    if missing := sorted(set(listed) - there):
        raise BundleError(f"{missing[0]} is listed in {NAME} but missing")
    for name, data in files.items():
        if name in (NAME, beside):
            continue
        entry = listed[name]
        if not isinstance(entry, dict) or entry.get("sha256") != sha256(data):
            raise BundleError(
                f"{name} was changed: its SHA-256 is not the one in {NAME}",
                hint="get the bundle again from its source",
            )
        if entry.get("bytes") != len(data):
            raise BundleError(f"{name}: {NAME} names another size")
