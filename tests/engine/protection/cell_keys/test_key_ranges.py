"""Whole record keys of other ranges than 10^8: sums modulo the range, and the noise that belongs to them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.errors import InputError
from tabprotect.engine.microdata.coding import AddedUp
from tabprotect.engine.microdata.record_keys import key_range
from tabprotect.engine.microdata.tabulate import Tabulated, tabulate_with_keys
from tabprotect.engine.protection.cell_keys import perturbation_files as files
from tabprotect.engine.protection.cell_keys.key_parameters import table_of
from tabprotect.engine.protection.cell_keys.perturbation_table import KEYS, perturbation_table
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness

METHOD = methods()["cell_key"]


def records(folder: Path, end: int, number: int = 3000) -> tuple[Tabulated, dict[str, tuple[int, int]]]:
    """A file of records with keys below ``end``: as tabulated, and count and key sum of each cell by hand."""
    generator = np.random.default_rng(end)
    keys, region, age = (generator.integers(0, most, number).tolist() for most in (end, 10, 6))
    lines = [f"r{r},a{a},{key}" for r, a, key in zip(region, age, keys, strict=True)]
    path = folder / "records.csv"
    path.write_text("region,age,k\n" + "\n".join(lines) + "\n")
    cells: dict[str, tuple[int, int]] = {}
    for r, a, key in zip(region, age, keys, strict=True):
        for cell in (f"r{r},a{a}", f"r{r},", f",a{a}", ","):
            n, total = cells.get(cell, (0, 0))
            cells[cell] = n + 1, (total + key) % end
    return tabulate_with_keys(path, ["region", "age"], also=AddedUp(record_key="k")), cells


def problem_of(found: Tabulated) -> Problem:
    return Problem(found.table, record_keys=found.record_keys, key_range=found.key_range)


def test_every_count_has_the_noise_that_its_key_has_in_a_table_of_ons(tmp_path: Path) -> None:
    found, cells = records(tmp_path, 256)
    assert found.key_range == 256
    path = tmp_path / "ptable.csv"
    path.write_text(files.to_ons(perturbation_table(D=5, V=3, js=0), keys=256))
    noise = {
        (int(row), int(key)): int(value)
        for row, key, value in (line.split(",") for line in path.read_text().splitlines()[1:])
    }
    values = METHOD.resolve(found.table.domain, {"table": str(path), "keys": "records"})
    draft = METHOD.draw(problem_of(found), values, np.random.default_rng(1))
    seen = 0
    for table in draft.tables:
        domain = table.table.domain
        for at, published in enumerate(table.table.counts.reshape(-1).tolist()):
            labels = dict(zip(domain.names, domain.labels(domain.unflat(at)), strict=True))
            n, key = cells[f"{labels.get('region', '')},{labels.get('age', '')}"]
            row = n if n <= 750 else (n - 1) % 250 + 501
            assert published == n + noise[row, key]
            seen += 1
    assert seen == 60 + 10 + 6 + 1


@pytest.mark.parametrize("end", [256, 1000, 4096, 65_536, 10**5])
def test_the_law_that_readers_are_told_is_that_of_the_keys(end: int, tmp_path: Path) -> None:
    found, cells = records(tmp_path, end)
    assert found.record_keys is not None and found.key_range == end
    assert sorted(found.record_keys.counts.reshape(-1).tolist()) == sorted(
        key for cell, (_, key) in cells.items() if not cell.startswith(",") and not cell.endswith(",")
    )
    release = METHOD.run(problem_of(found), {"margins": "region:age - 1"}, Randomness.seeded(3)).release
    table = table_of(METHOD.resolve(found.table.domain, {})).on_grid(end)
    stated = release.mechanism.parameters["table"]
    assert (files.from_json(stated).upper == table.upper).all()
    every = np.arange(end)
    drawn = table.noise_of(np.full(len(every), 9), (2 * every + 1) * KEYS // (2 * end))
    shares = {int(v): int(n) / end for v, n in zip(*np.unique(drawn, return_counts=True), strict=True)}
    assert shares == pytest.approx(table.transitions(table.rows - 1), abs=1e-7)


@pytest.mark.parametrize("end", [300, 5000, 99, 2 * 10**5])
def test_another_range_is_refused_by_name(end: int, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        records(tmp_path, end)
    assert "k:" in str(caught.value) or "k " in str(caught.value)
    assert "record-keys" in caught.value.hint


def test_keys_that_do_not_begin_at_zero_are_refused_with_the_ranges() -> None:
    with pytest.raises(InputError, match="run from 1,000 to 1,255"):
        key_range("k", 500, (1000, 1255))
    assert key_range("k", 500, (0, 255)) == 256
    # So few keys are no evidence.
    assert key_range("k", 3, (17, 99)) == 256


@pytest.mark.parametrize("keys", ["plain", "hashed", "records"])
def test_cell_keys_that_crowd_are_found_before_noise_is_put_on(keys: str, tmp_path: Path) -> None:
    """Sums of keys 0..255 taken for eight decimals, as nobody had asked for their range."""
    found, _ = records(tmp_path, 256)
    wrong = replace(problem_of(found), key_range=KEYS)
    values = METHOD.resolve(found.table.domain, {"keys": keys, "margins": "region:age - 1"})
    with pytest.raises(InputError, match="60 cells crowd into a part"):
        METHOD.draw(wrong, values, np.random.default_rng(1))
