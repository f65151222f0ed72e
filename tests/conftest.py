"""What every test needs: a house of its own."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def house_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of settings that is empty: no test reads or writes the user's own."""
    folder = tmp_path_factory.mktemp("house")
    monkeypatch.setenv("TABPROTECT_HOME", str(folder))
    monkeypatch.delenv("TABPROTECT_REGISTER", raising=False)
    monkeypatch.delenv("TABPROTECT_POLICY", raising=False)
    return folder
