"""A protected table through its two files and back."""

from __future__ import annotations

from pathlib import Path

from tabprotect.engine.bundle import public
from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.bundle.verify import verify
from tabprotect.engine.protection.problem import Protected
from tabprotect.engine.protection.registered import likelihood_of
from tabprotect.engine.release.release import Release


def round_trip(protected: Protected, folder: Path) -> Release:
    """Write, verify and read the bundle; write the dossier and replay it. The release as read."""
    # Its page is held against the program elsewhere.
    (folder / "release.zip").write_bytes(public.verified_bytes(protected.release, page=False))
    found = verify(folder / "release.zip").release
    assert found.tables == protected.release.tables
    assert found.domain == protected.release.domain
    likelihood_of(found)
    confidential.write(protected, folder / "dossier.zip")
    again = confidential.read(folder / "dossier.zip")
    assert again.release.tables == protected.release.tables
    assert again.record.seed == protected.record.seed
    return found
