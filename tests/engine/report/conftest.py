"""The protected table of the bundle's tests, and its two files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabprotect.engine.bundle import public
from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.bundle.staff.audit_trail import chained
from tabprotect.engine.protection.problem import Protected
from tests.engine.bundle.conftest import protected as protected


@pytest.fixture(scope="session")
def release(protected: Protected, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The release bundle."""
    path = tmp_path_factory.mktemp("report") / "release.zip"
    public.write(protected.release, path)
    return path


@pytest.fixture(scope="session")
def dossier(protected: Protected, release: Path) -> Path:
    """The dossier, beside it."""
    path = release.with_name("dossier.zip")
    steps = [{"time": "2026-05-03T09:00:00Z", "label": "open health.csv"}]
    confidential.write(protected, path, release=release.read_bytes(), trail=chained(steps))
    return path
