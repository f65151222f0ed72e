"""Damaged and hostile files of every kind: refused in words, never an error of another kind.

Mutants of small sound files from a fixed generator, a few of each kind; ``TABPROTECT_FUZZ`` multiplies
them, and ``python tests/fuzz/many.py --mutants 1000000`` tries as many as there is time for.
"""

from __future__ import annotations

import os
import tokenize
from pathlib import Path

import numpy as np
import pytest
from foreign_files import READERS, RECIPE, TEXTS, mutant, mutated, reader_of, sound_files

from tabprotect.engine.bundle.archive import pack, sealed, unpack
from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.bundle.verify import KIND, verify_bytes
from tabprotect.engine.errors import BundleError, InputError, TabprotectError
from tabprotect.engine.formats.registered import formats
from tabprotect.engine.project.recipes import replay
from tabprotect.engine.project.saving import storage

MUTANTS = 12 * int(os.environ.get("TABPROTECT_FUZZ", "1"))
NAMES = sorted(
    {*TEXTS, *READERS, "t.csv.gz"}
    | {f"t{kind.suffixes[0]}" for name, kind in formats().items() if kind.writes and name != "csv"}
)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Small sound files of every kind."""
    return sound_files(tmp_path_factory.mktemp("sound"))


@pytest.fixture
def folder(sound: dict[str, bytes], tmp_path: Path) -> Path:
    """A folder with all of them: some belong together."""
    for name, data in sound.items():
        (tmp_path / name).write_bytes(data)
    return tmp_path


def test_sound_files_of_all_readers_are_read(sound: dict[str, bytes], folder: Path) -> None:
    assert set(NAMES) <= set(sound)
    for name in NAMES:
        reader_of(name)(folder / name)


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_are_refused_in_words(sound: dict[str, bytes], name: str, folder: Path) -> None:
    generator = np.random.default_rng(list(name.encode()))
    path = folder / name
    for _ in range(MUTANTS):
        path.write_bytes(mutant(sound[name], generator))
        try:
            reader_of(name)(path)
        except TabprotectError as error:
            assert error.message  # noqa: PT017 (most mutants are refused)


@pytest.mark.parametrize(
    ("name", "member"),
    [
        *(("r.zip", m) for m in ("mechanism.json", "datapackage.json", "table.csv")),
        *(("d.zip", f"CONFIDENTIAL/{m}") for m in ("record.json", "original.csv")),
        *(("sums.zip", m) for m in ("mechanism.json", "datapackage.json", "table.csv")),
        ("p.tabprotect", "project.json"),
    ],
)
def test_damage_behind_sound_hashes(sound: dict[str, bytes], name: str, member: str, tmp_path: Path) -> None:
    generator = np.random.default_rng(list(member.encode()))
    files = unpack(sound[name], allowed=lambda _: True)
    kinds = {"r.zip": KIND, "d.zip": confidential.KIND, "sums.zip": KIND}
    kind = kinds.get(name)
    refused = 0
    for _ in range(MUTANTS):
        changed = files | {member: mutated(files[member], generator)}
        if kind is not None:
            changed = sealed({n: d for n, d in changed.items() if n != "manifest.json"}, kind)
        path = tmp_path / name
        path.write_bytes(pack(changed))
        try:
            reader_of(name)(path)
        except TabprotectError as error:
            refused += 1
            assert error.exit_code == (3 if kind is None else 6)  # noqa: PT017
    assert refused > MUTANTS / 3


def test_arrays_of_a_project_with_damaged_heads(sound: dict[str, bytes]) -> None:
    generator = np.random.default_rng(7)
    files = unpack(sound["p.tabprotect"], allowed=lambda _: True)
    arrays = [name for name in files if name.endswith(".npy")]
    for _ in range(4 * MUTANTS):
        name = arrays[int(generator.integers(0, len(arrays)))]
        head = mutated(files[name][:128], generator)
        try:
            storage.from_bytes(pack(files | {name: head + files[name][128:]}))
        except InputError as error:
            assert error.exit_code == 3  # noqa: PT017


def test_what_newer_tokenizers_say_of_a_damaged_head_is_a_damaged_array(
    sound: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From Python 3.12 on numpy's reading of a head can end in an error of the tokenizer."""

    def load(*_: object, **__: object) -> None:
        raise tokenize.TokenError("invalid non-printable character", (2, 1))

    monkeypatch.setattr(np, "load", load)
    with pytest.raises(InputError) as error:
        storage.from_bytes(sound["p.tabprotect"])
    assert error.value.exit_code == 3


@pytest.mark.parametrize("name", NAMES)
def test_pipes_folders_and_what_is_not_there(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / name).mkdir()
    for path in (tmp_path / name, tmp_path / "folder" / name, tmp_path / "none" / name):
        with pytest.raises(TabprotectError) as error:
            reader_of(name)(path)
        assert error.value.exit_code in (3, 4)


def test_a_name_that_no_file_can_have() -> None:
    with pytest.raises(InputError, match="NUL"):
        replay.from_text(RECIPE.replace("t.csv", "a\\u0000b"))


def test_nothing_but_noise_is_a_bundle() -> None:
    generator = np.random.default_rng(1)
    for size in (0, 1, 22, 100, 5000):
        with pytest.raises(BundleError):
            verify_bytes(generator.bytes(size))
