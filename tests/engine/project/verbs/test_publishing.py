"""Publishing is all or nothing, and never costs a published release its dossier."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabprotect.engine.bundle import confidential
from tabprotect.engine.bundle.verify import verify
from tabprotect.engine.errors import InputError
from tabprotect.engine.project.history import History
from tabprotect.engine.project.saving import storage
from tabprotect.engine.project.verbs.release_verbs import protect, publish
from tabprotect.engine.project.verbs.table_verbs import open_table

SEED = 2**127 + 5


def protected(seed: int) -> History:
    history = History()
    for order in (open_table(source="example:duncan-roehrig-4x4"), protect(seed=seed)):
        history, _ = history.do(order)
    return history


def published(history: History, release: Path, dossier: Path) -> History:
    order = publish(release=str(release), dossier=str(dossier), overwrite=True)
    return history.do(order)[0]


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_failed_publish_changes_nothing(tmp_path: Path) -> None:
    release, dossier = tmp_path / "r.zip", tmp_path / "d-CONFIDENTIAL.zip"
    published(protected(SEED), release, dossier)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for where in (tmp_path / "none" / "r.zip", tmp_path):
        with pytest.raises(InputError, match="cannot be written"):
            published(protected(SEED + 1), where, dossier)
        assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    with pytest.raises(InputError, match="cannot be written"):
        published(protected(SEED + 1), release, tmp_path / "none" / "d.zip")
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_dossier_of_another_release_is_kept_under_a_free_name(tmp_path: Path) -> None:
    release, dossier = tmp_path / "r.zip", tmp_path / "d.zip"
    first = published(protected(SEED), release, dossier)
    assert first.project.notes == ()
    old = dossier.read_bytes()
    second = published(protected(SEED + 1), release, dossier)
    assert "it is now d-1.zip" in second.project.notes[-1]
    assert (tmp_path / "d-1.zip").read_bytes() == old
    assert confidential.read(tmp_path / "d-1.zip").record.seed == SEED
    third = published(protected(SEED + 2), release, dossier)
    assert "d-2.zip" in third.project.notes[-1]
    # The same release again loses nothing.
    assert published(protected(SEED + 2), release, dossier).project.notes == ()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["d-1.zip", "d-2.zip", "d.zip", "r.zip"]
    assert confidential.read(dossier).release == verify(release).release


def test_what_is_confidential_is_for_its_owner_alone(tmp_path: Path) -> None:
    release, dossier = tmp_path / "r.zip", tmp_path / "d.zip"
    dossier.write_bytes(b"no dossier")
    dossier.chmod(0o644)
    history = published(protected(SEED), release, dossier)
    assert mode(dossier) == 0o600
    assert mode(release) & 0o044
    storage.save(history, tmp_path / "p.tabprotect")
    assert mode(tmp_path / "p.tabprotect") == 0o600
