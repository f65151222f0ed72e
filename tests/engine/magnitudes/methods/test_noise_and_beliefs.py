"""Noise on sums, and how near a reader's best guess comes: closed forms, published figures, draws."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from magnitude_cases import drawn, hidden_square, outsider, table_of

from tabprotect.engine.bundle import public
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.magnitudes.methods.key_noise import KeyNoise, keyed
from tabprotect.engine.magnitudes.methods.multipliers import MultiplierLaw, multiplied
from tabprotect.engine.magnitudes.readers.beliefs import second_beliefs
from tabprotect.engine.magnitudes.readers.rounded_totals import bases, least_base, rounded, rounding_beliefs
from tabprotect.engine.magnitudes.tables.equations import Equations
from tabprotect.engine.release.published_magnitudes import PublishedMagnitudes
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.variable import Variable

KEY = b"a key of a house for tests"


@pytest.mark.parametrize(
    ("least", "most", "shape", "within", "expected"),
    [
        (0.05, 0.15, "uniform", 0.10, 6 / 11),
        (0.05, 0.15, "uniform", 0.05, 0.5),
        (0.05, 0.15, "ramp", 0.10, 0.7525),
        (0.10, 0.25, "uniform", 0.20, 0.7222),
        (0.10, 0.25, "ramp", 0.20, 0.8932),
        (0.20, 0.50, "uniform", 0.05, 0.2381),
        (0.00, 0.30, "uniform", 0.10, 0.3939),
    ],
)
def test_the_belief_about_one_who_is_alone(least, most, shape, within, expected) -> None:
    law = MultiplierLaw(least, most, shape)
    assert law.belief(within) == pytest.approx(expected, abs=1e-4)


def test_factors_follow_their_law_and_the_holding() -> None:
    law = MultiplierLaw(0.05, 0.15, "ramp")
    factors = law.factors(KEY, [f"h{n}" for n in range(4000)])
    distance = np.abs(factors - 1)
    assert distance.min() >= 0.05 and distance.max() <= 0.15
    grid = np.linspace(0.86, 1.14, 15)
    found = (factors[:, None] <= grid).mean(axis=0)
    assert np.abs(found - law.below(grid)).max() < 0.03
    assert np.array_equal(law.factors(KEY, ["h7"]), factors[7:8])
    assert not np.array_equal(law.factors(b"another", ["h7"]), factors[7:8])


def test_sums_with_factors_add_up() -> None:
    table = table_of(drawn(3), (4, 4))
    noisy = multiplied(table, MultiplierLaw(), KEY)
    assert not np.array_equal(noisy, table.cells.value)
    sums = Equations.of(table.variables, table.cells.key, table.cells.nodes)
    for number in range(len(sums)):
        assert noisy[sums.children(number)].sum() == noisy[sums.parent[number]]


def test_cell_keys_as_published() -> None:
    noise = KeyNoise.of({"small": 0.1, "large": 0.1})
    assert noise.chances[len(noise.chances) // 2] == pytest.approx(0.14087, abs=1e-5)
    found = [noise.belief(1000, within) for within in (0.05, 0.1, 0.2)]
    assert found == pytest.approx([0.405588, 0.625167, 0.889907], abs=1e-5)
    sizes = np.array([500.0, 1000.0, 2000.0, 10000.0, 1000000.0])
    expected = [0.2, 0.2, 0.19444444, 0.09512397, 0.03079828]
    assert KeyNoise.of({}).share(sizes) == pytest.approx(expected, abs=1e-7)


def test_the_same_contributors_get_the_same_noise() -> None:
    rows = drawn(4)
    table, noise = table_of(rows, (4, 4)), KeyNoise.of({"top": 2})
    no = np.zeros(len(table.cells), dtype=bool)
    first = keyed(table, noise, KEY, no)
    more = {**rows, (0, 0, "nobody"): 0}
    again = table_of(more, (4, 4))
    assert np.array_equal(first, keyed(again, noise, KEY, no))
    assert not np.array_equal(first, table.cells.value)


@pytest.mark.parametrize("wrong", [{"least": ".3"}, {"shape": "flat"}, {"p": "1"}, {"most": "x"}])
def test_wrong_parameters_are_refused(wrong) -> None:
    with pytest.raises(ParameterError):
        MultiplierLaw.of(wrong)


def test_a_hidden_sum_with_one_degree_of_freedom_is_exact(tmp_path: Path) -> None:
    release = Release.of_magnitudes(hidden_square(), "suppression")
    (tmp_path / "r.zip").write_bytes(public.to_bytes(release))
    again = public.read(tmp_path / "r.zip").magnitude_table
    found = {tuple(again.index(cell).values()): belief for cell, belief in outsider(again, 0.1).items()}
    # It lies between 3 and 6; the best window ends at 6 and begins at 54/11.
    assert set(found) == {("1", "1"), ("1", "2"), ("2", "1"), ("2", "2")}
    assert found["1", "1"] == pytest.approx((6 - 54 / 11) / 3, abs=0.002)


def test_the_second_largest_of_hidden_sums_as_drawn() -> None:
    """The square's first sum lies in [3, 6]; the second largest put in 1, the others 1/4."""
    release = hidden_square()
    cells, parts = np.array([0, 0, 0]), np.array([[0, 0], [1, 0], [1, 0.25]])
    found = second_beliefs(release, cells, parts, 0.1)
    rng = np.random.default_rng(3)
    for belief, (own, rest) in zip(found.tolist(), parts.tolist(), strict=True):
        left = np.sort(3 + 3 * rng.random(200_000) - own - 2 * rest * rng.random(200_000))
        ends = np.searchsorted(left, left * 1.1 / 0.9)
        expected = (ends - np.arange(len(left))).max() / len(left)
        assert belief == pytest.approx(expected, abs=0.01)
    assert found[0] == pytest.approx((6 - 54 / 11) / 3, abs=0.002)


def test_walks_agree_with_rejection() -> None:
    rng = np.random.default_rng(1)
    variables = Variable("a", ("1", "2", "3")), Variable("b", ("1", "2", "3"))
    inner = rng.integers(5, 30, (3, 3))
    whole = np.pad(inner, ((0, 1), (0, 1)))
    whole[3, :3], whole[:3, 3], whole[3, 3] = inner.sum(axis=0), inner.sum(axis=1), inner.sum()
    hidden = np.zeros((4, 4), dtype=bool)
    hidden[:3, :3] = True
    hidden[2, 2] = False
    value = np.where(hidden, 0, whole).reshape(-1)
    release = PublishedMagnitudes(variables, "x", 0, np.arange(16), value, hidden.reshape(-1))
    found = outsider(release, 0.1)
    rows, columns = inner.sum(axis=1), inner.sum(axis=0)
    draws = rng.random((400_000, 3)) * [rows[0], rows[0], rows[1]]
    a, b, d = draws.T
    c = rows[0] - a - b
    f = columns[2] - inner[2, 2] - c
    e = rows[1] - d - f
    g, h = columns[0] - a - d, columns[1] - b - e
    kept = (np.minimum.reduce([c, f, e, g, h]) >= 0) & (np.abs(g + h + inner[2, 2] - rows[2]) < 1e-9)
    cells = np.sort(a[kept])
    ends = np.searchsorted(cells, cells * 1.1 / 0.9)
    expected = (ends - np.arange(len(cells))).max() / len(cells)
    assert kept.sum() > 5000
    assert found[0] == pytest.approx(expected, abs=0.03)


def test_beliefs_of_rounded_sums_are_those_of_every_guess() -> None:
    """By the definition: of the numbers that round to a sum, the most that one guess comes near to."""
    for base in (1, 2, 5, 10):
        every = np.arange(0, 200)
        published = rounded(every, base)
        found = rounding_beliefs(published, base, 0.1)
        for number in range(0, 90, 7):
            alike = every[published == published[number]]
            near = [np.sum(np.abs(g - alike) <= 0.1 * alike + 1e-9) for g in np.arange(0, 110, 0.05)]
            assert found[number] == pytest.approx(max(near) / len(alike))
    # The base that is enough, and no smaller one.
    value, unsafe = np.array([40, 700, 90_000]), np.array([True, True, False])
    base = least_base(value, unsafe, 0.1, 0.5)
    assert base is not None and base > 1
    smaller = max(one for one in bases() if one < base)
    for one, enough in ((base, True), (smaller, False)):
        worst = rounding_beliefs(rounded(value[:2], one), one, 0.1).max()
        assert bool(worst <= 0.5) is enough
