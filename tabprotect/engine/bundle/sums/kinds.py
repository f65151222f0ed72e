"""Which bundles hold sums: what their manifests state."""

from __future__ import annotations

from pathlib import Path

from tabprotect.engine.bundle import archive
from tabprotect.engine.errors import BundleError
from tabprotect.languages.messages import message

KIND = message("tabprotect release of magnitudes")
DOSSIER = message("tabprotect dossier of magnitudes")
KINDS = (KIND, DOSSIER)


def kind_of(data: bytes) -> str:
    """The kind that a zip's manifest states; empty for no bundle."""
    try:
        files = archive.unpack(data, allowed=lambda name: True)
        manifest = archive.parse_json(archive.MANIFEST, files[archive.MANIFEST])
    except (BundleError, KeyError):
        return ""
    return str(manifest.get("format")) if isinstance(manifest, dict) else ""


def is_release(path: Path) -> bool:
    """Return True if a file is a bundle of a magnitude table."""
    if not path.is_file() or path.read_bytes()[:2] != b"PK":
        return False
    try:
        return kind_of(archive.load(path)) == str(KIND)
    except BundleError:
        return False
