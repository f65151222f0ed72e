"""Damaged and hostile files of every kind: refused in words, never an error of another kind.

Mutants of small sound files from a fixed generator, as many as a budget of counts allows;
``TABPROTECT_FUZZ`` multiplies it.
"""

from __future__ import annotations

import gzip
import json
import os
import tokenize
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import xlsxwriter

from tabprotect.engine.bundle import confidential
from tabprotect.engine.bundle.archive import pack, sealed, unpack
from tabprotect.engine.bundle.verify import KIND, verify, verify_bytes
from tabprotect.engine.cycles import cycle_files
from tabprotect.engine.errors import BundleError, InputError, TabprotectError
from tabprotect.engine.formats.grouping_files import parse_groupings
from tabprotect.engine.formats.table_reading import read_table
from tabprotect.engine.posterior.prior import parse_prior
from tabprotect.engine.project.history import History
from tabprotect.engine.project.recipes import replay
from tabprotect.engine.project.saving import storage
from tabprotect.engine.project.verbs.release_verbs import protect, publish
from tabprotect.engine.project.verbs.table_verbs import open_table
from tabprotect.engine.protection.cell_keys import perturbation_files
from tabprotect.engine.tables.domain import Domain

MUTANTS = 25 * int(os.environ.get("TABPROTECT_FUZZ", "1"))
DOMAIN = Domain.of_shape((4, 4))
RECIPE = 'recipe = 1\n[[step]]\ndo = "open_table"\nsource = "t.csv"\n'
PTABLE = "i;j;p;v;p_int_ub\n0;0;1;0;1\n1;0;0.5;-1;0.5\n1;2;0.5;1;1\n2;2;1;0;1\n"
CSV = "a,b,count\nx,1,3\nx,2,0\ny,1,7\ny,2,12\n"
NASTY = [
    *(b"\x00", b"\xff\xfe", b"\r", b"\n", b'"', b"\\ud800", b"NaN", b"-1", b"1e999", b"{", b"["),
    *(b"9" * 40, b"/etc/passwd", b"null", b"true", b"[" * 3000, b"=", b";", b">", b"\xe2\x80\xae"),
]


def mutated(data: bytes, generator: np.random.Generator) -> bytes:
    """A few bytes flipped, cut, doubled, or replaced by something nasty."""
    out = bytearray(data)
    for _ in range(int(generator.integers(1, 4))):
        at = int(generator.integers(0, len(out) + 1))
        size = int(generator.integers(1, 12))
        kind = int(generator.integers(0, 5))
        if kind == 0 and at < len(out):
            out[at] ^= int(generator.integers(1, 256))
        elif kind == 1:
            del out[at : at + size]
        elif kind == 2:
            out[at:at] = out[at : at + size]
        elif kind == 3:
            out[at : at + size] = NASTY[int(generator.integers(0, len(NASTY)))]
        else:
            out[at:at] = NASTY[int(generator.integers(0, len(NASTY)))]
    return bytes(out)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Small sound files of every kind."""
    folder = tmp_path_factory.mktemp("sound")
    history = History()
    for order in (
        open_table(source="example:duncan-roehrig-4x4"),
        protect(seed=2**127),
        publish(release=str(folder / "r.zip"), dossier=str(folder / "d.zip")),
    ):
        history, _ = history.do(order)
    storage.save(history, folder / "p.tabprotect")
    book = xlsxwriter.Workbook(folder / "t.xlsx")
    sheet = book.add_worksheet()
    for row, line in enumerate(CSV.split()):
        sheet.write_row(row, 0, line.split(","))
    book.close()
    return {
        "t.csv": CSV.encode(),
        "t.csv.gz": gzip.compress(CSV.encode()),
        "t.xlsx": (folder / "t.xlsx").read_bytes(),
        "r.zip": (folder / "r.zip").read_bytes(),
        "d.zip": (folder / "d.zip").read_bytes(),
        "p.tabprotect": (folder / "p.tabprotect").read_bytes(),
        "c.json": json.dumps(cycle_files.to_json(history.project.cycles)).encode(),
        "p.csv": PTABLE.encode(),
        "g.csv": b"x1,half\n"
        + b"".join(b"%s,h\n" % c.encode() for c in DOMAIN.variables[0].categories),
        "w.csv": b"x1,x2,count,weight\n1,1,0,1\n",
        "s.toml": RECIPE.encode(),
    }


READERS: dict[str, Callable[[Path], object]] = {
    "t.csv": read_table,
    "t.csv.gz": read_table,
    "t.xlsx": read_table,
    "r.zip": verify,
    "d.zip": lambda path: confidential.read(path),
    "p.tabprotect": storage.load,
    "c.json": lambda path: cycle_files.read(path, domain=DOMAIN),
    "p.csv": perturbation_files.read,
    "g.csv": lambda path: parse_groupings(str(path), DOMAIN),
    "w.csv": lambda path: parse_prior(f"table:{path}", DOMAIN),
    "s.toml": replay.read,
}


@pytest.mark.parametrize("name", list(READERS))
def test_damaged_files_are_refused_in_words(
    sound: dict[str, bytes], name: str, tmp_path: Path
) -> None:
    generator = np.random.default_rng(list(name.encode()))
    path = tmp_path / name
    for _ in range(MUTANTS):
        path.write_bytes(mutated(sound[name], generator))
        try:
            READERS[name](path)
        except TabprotectError as error:
            assert error.message  # noqa: PT017 (most mutants are refused)


@pytest.mark.parametrize(
    ("name", "member"),
    [
        *(("r.zip", m) for m in ("mechanism.json", "datapackage.json", "table.csv")),
        *(("d.zip", f"CONFIDENTIAL/{m}") for m in ("record.json", "original.csv")),
        ("p.tabprotect", "project.json"),
    ],
)
def test_damage_behind_sound_hashes(
    sound: dict[str, bytes], name: str, member: str, tmp_path: Path
) -> None:
    generator = np.random.default_rng(list(member.encode()))
    files = unpack(sound[name], allowed=lambda _: True)
    kind = {"r.zip": KIND, "d.zip": confidential.KIND}.get(name)
    refused = 0
    for _ in range(MUTANTS):
        changed = files | {member: mutated(files[member], generator)}
        if kind is not None:
            changed = sealed({n: d for n, d in changed.items() if n != "manifest.json"}, kind)
        path = tmp_path / name
        path.write_bytes(pack(changed))
        try:
            READERS[name](path)
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


@pytest.mark.parametrize("name", list(READERS))
def test_pipes_folders_and_what_is_not_there(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / name).mkdir()
    for path in (tmp_path / name, tmp_path / "folder" / name, tmp_path / "none" / name):
        with pytest.raises(TabprotectError) as error:
            READERS[name](path)
        assert error.value.exit_code in (3, 4)


def test_a_name_that_no_file_can_have() -> None:
    with pytest.raises(InputError, match="NUL"):
        replay.from_text(RECIPE.replace("t.csv", "a\\u0000b"))


def test_nothing_but_noise_is_a_bundle() -> None:
    generator = np.random.default_rng(1)
    for size in (0, 1, 22, 100, 5000):
        with pytest.raises(BundleError):
            verify_bytes(generator.bytes(size))
