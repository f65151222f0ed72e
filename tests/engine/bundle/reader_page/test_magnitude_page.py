"""The page of a bundle of sums: its ranges by definition, and what verifying makes of it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from magnitude_cases import drawn, table_of

from tabprotect.cli.main import main
from tabprotect.engine.bundle import archive, public
from tabprotect.engine.bundle.reader_page import page
from tabprotect.engine.bundle.verify import KIND, verify_bytes
from tabprotect.engine.errors import BundleError
from tabprotect.engine.magnitudes.methods.key_noise import KeyNoise, keyed
from tabprotect.engine.magnitudes.methods.multipliers import MultiplierLaw, multiplied
from tabprotect.engine.magnitudes.readers.beliefs import hidden_ranges
from tabprotect.engine.release.published_magnitudes import PublishedMagnitudes
from tabprotect.engine.release.release import Release

KEY = b"a key of a house for tests"

SQUARES = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 2), (2, 3), (3, 2), (3, 3)]
"""Two squares of hidden cells, each with one degree of freedom."""

Ranges = dict[tuple[int, int], tuple[int, int]]


def released(method: str) -> tuple[Release, Ranges]:
    """A release of sums, and by row and column the range of some of them in units."""
    table = table_of(drawn(3), (4, 4))
    cells = table.cells
    hidden = np.zeros(len(cells.key), dtype=bool)
    value, parameters = cells.value, dict[str, float | str | bool]()
    ranges: Ranges = {}
    if method == "suppression":
        at = {tuple(map(int, nodes)): n for n, nodes in enumerate(cells.nodes.T)}
        hidden[[at[place] for place in SQUARES]] = True
        for square in (SQUARES[:4], SQUARES[4:]):
            a, b, c, d = (int(value[at[place]]) for place in square)
            # Along the square a and d rise as b and c fall, until one of them is 0.
            down, up = min(a, d), min(b, c)
            ends = [(a - down, a + up), (b - up, b + down), (c - up, c + down), (d - down, d + up)]
            ranges |= dict(zip(square, ends, strict=True))
        value = np.where(hidden, 0, value)
    elif method == "multiplicative_noise":
        law = MultiplierLaw(0.05, 0.15)
        value, parameters = multiplied(table, law, KEY), law.as_json()
        published = int(value[0])
        # A tenth of each half of the law lies beyond 1.14 and below .86.
        ranges = {(0, 0): (int(published / 1.14), -int(-published // 0.86))}
    else:
        noise = KeyNoise.of({"small": 0.1, "large": 0.1})
        value, parameters = keyed(table, noise, KEY, hidden), noise.as_json()
        below = np.cumsum(noise.chances)
        step = float(noise.values[int((below <= 0.05 + 1e-12).sum())])
        ends_of = [int(value[0]) / (1 + 0.1 * -step), int(value[0]) / (1 + 0.1 * step)]
        ranges = {(0, 0): (int(np.floor(ends_of[0])), int(np.ceil(ends_of[1])))}
    published = PublishedMagnitudes(table.variables, "turnover", 0, cells.key, value, hidden)
    return Release.of_magnitudes(published, method, parameters), ranges


def test_ranges_of_hidden_sums_by_definition() -> None:
    release, ranges = released("suppression")
    table = release.magnitude_table
    places = [tuple(map(int, n)) for n in table.nodes[:, table.hidden].T]
    expected = np.array([ranges[row, column] for row, column in places], dtype=np.float64)
    assert np.abs(hidden_ranges(table) - expected).max() < 1e-6


def test_a_sum_that_nothing_bounds() -> None:
    table = released("suppression")[0].magnitude_table
    everything = np.ones(len(table.key), dtype=bool)
    everything[(table.nodes == table.nodes[:, :1]).all(axis=0)] = False
    nothing = replace(table, value=table.value * 0, hidden=everything)
    assert np.isinf(hidden_ranges(nothing)[:, 1]).all()


@pytest.mark.parametrize("method", ["suppression", "multiplicative_noise", "cell_key"])
def test_verifying_makes_the_page_again(tmp_path: Path, method: str) -> None:
    release, _ = released(method)
    data = public.to_bytes(release)
    assert data == public.to_bytes(release)
    assert verify_bytes(data).checks[-1] == page.MADE_AGAIN
    files = archive.unpack(data, allowed=lambda name: True)
    held = re.findall(rb'<script type="application/json"[^>]*>(.*?)</script>', files[page.PAGE])
    assert len(files[page.PAGE]) - sum(map(len, held)) < 60_000
    right = re.search(rb'"ranges":\[\[\d+', files[page.PAGE])
    assert right
    for wrong in (right[0] + b"1", right[0].replace(b"[[", b"[[9")):
        changed = files[page.PAGE].replace(right[0], wrong)
        content = {n: d for n, d in files.items() if n != archive.MANIFEST}
        forged = archive.pack(archive.sealed(content | {page.PAGE: changed}, KIND))
        with pytest.raises(BundleError, match=r"page\.html"):
            verify_bytes(forged)
    bundle, made = tmp_path / "sums.zip", tmp_path / "page.html"
    bundle.write_bytes(data)
    assert main(["page", str(bundle), "--out", str(made)]) == 0
    assert made.read_bytes() == files[page.PAGE]
    assert page.MADE_AGAIN not in verify_bytes(public.to_bytes(release, page=False)).checks


@pytest.mark.parametrize("unit", ["", ".50"])
@pytest.mark.parametrize("method", ["suppression", "multiplicative_noise"])
def test_a_table_with_an_empty_cell_has_the_page_that_readers_make(
    tmp_path: Path, method: str, unit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TABPROTECT_HOME", str(tmp_path / "home"))
    records, table, out = (tmp_path / name for name in ("r.csv", "T.parquet", "s.zip"))
    # There are no firms in (a0, b2).
    rows = [
        f"a{i},b{j},{100 * i + 10 * j + k}{unit},f{i}{j}{k}"
        for i in range(3)
        for j in range(3)
        for k in range(1 if (i, j) == (1, 1) else 5)
        if (i, j) != (0, 2)
    ]
    records.write_text("\n".join(["a,b,turnover,firm", *rows]) + "\n")
    asked = ("--by", "a,b", "--measure", "turnover", "--holding", "firm")
    assert main(["tabulate", str(records), *asked, "--out", str(table)]) == 0
    protecting = ("--method", method, "--rule", "p=10", "--accept", "a reason")
    assert main(["protect", str(table), *protecting, "--out", str(out)]) == 0
    assert main(["verify", str(out), "--quick"]) in (0, 7)
