"""The key of the house: made once, for its owner alone, and never replaced."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabprotect.engine import agency
from tabprotect.engine.errors import InputError, ParameterError


def test_made_at_first_use_and_kept(house_folder: Path) -> None:
    assert not agency.key_file().exists()
    key = agency.key()
    assert len(key) == 32 and agency.key() == key
    assert agency.key_file() == house_folder / "house.key"
    assert agency.key_file().stat().st_mode & 0o777 == 0o600
    agency.key_file().unlink()
    assert agency.key() != key


def test_the_environment_names_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(agency.KEY, str(tmp_path / "safe" / "k"))
    # It may be mistyped: a new key is made on purpose only.
    with pytest.raises(ParameterError, match="names no file"):
        agency.key()
    assert "names no file" in agency.key_concerns()[0]
    key = agency.key(make=True)
    assert bytes.fromhex((tmp_path / "safe" / "k").read_text()) == key == agency.key()
    assert agency.key_concerns() == ()


def test_a_key_that_is_no_secret() -> None:
    assert agency.key_concerns() == ()
    agency.key()
    agency.key_file().chmod(0o640)
    assert "may be read by others" in agency.key_concerns()[0]
    agency.key_file().write_text("00" * 32)
    assert ["guessed" in said for said in agency.key_concerns()] == [False, True]


@pytest.mark.parametrize("text", ["", "00", "zz" * 32, "\xff" * 64, "ab" * 33])
def test_what_is_no_key_is_never_replaced(text: str) -> None:
    agency.key_file().parent.mkdir(exist_ok=True)
    agency.key_file().write_text(text)
    with pytest.raises(InputError, match="no key of a house"):
        agency.key()
    assert agency.key_file().read_text() == text


def test_where_none_can_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(agency.KEY, str(tmp_path / "file" / "k"))
    with pytest.raises(InputError, match="cannot be read or made"):
        agency.key(make=True)
    monkeypatch.setenv(agency.KEY, str(tmp_path))
    with pytest.raises(InputError, match="cannot be made here"):
        agency.key()
