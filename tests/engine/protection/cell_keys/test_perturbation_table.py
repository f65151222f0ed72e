"""Perturbation tables: exact solutions, their optimality by a linear programme, files."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from tabprotect.engine.errors import InfeasibleError, InputError, ParameterError
from tabprotect.engine.protection.cell_keys import perturbation_files as files
from tabprotect.engine.protection.cell_keys.perturbation_table import (
    KEYS,
    PerturbationTable,
    perturbation_table,
)

REFERENCE = json.loads((Path(__file__).parents[3] / "reference" / "cell_key.json").read_text())
CASES = sorted(REFERENCE["tables"])


def rows(table: PerturbationTable) -> list[tuple[np.ndarray, np.ndarray]]:
    """(noise, probabilities) of each row."""
    cuts = zip(table.starts[:-1], table.starts[1:], strict=True)
    return [(table.noise[a:b], table.probabilities[a:b]) for a, b in cuts]


@cache
def in_ons_form() -> PerturbationTable:
    """D 5, V 3, js 2 on the grid of 256 keys."""
    return files.from_text(files.to_ons(perturbation_table(D=5, V=3, js=2)))


@pytest.mark.parametrize("name", CASES)
def test_reference_tables(name: str) -> None:
    case = REFERENCE["tables"][name]
    found = perturbation_table(**case["params"])
    assert found.targets.tolist() == case["j"]
    assert np.abs(found.matrix - np.array(case["matrix"])).max() < 1e-9
    # The reference's ends carry its solver's error of about 1e-7.
    assert np.abs(found.upper / KEYS - np.array(case["ub"])).max() < 2e-7


def test_rows_that_cannot_reach_the_variance_are_reported() -> None:
    found = perturbation_table(D=2, V=1.05, js=1).unreached
    assert [(u.row, round(u.variance, 5), u.stay) for u in found] == [(3, 0.93188, None)]
    found = perturbation_table(D=8, V=3).unreached
    assert [(u.row, round(u.variance, 3)) for u in found] == [(1, 1.402)]
    assert perturbation_table(D=5, V=3, js=2).unreached == ()


def optimality_gap(
    noise: np.ndarray, p: np.ndarray, *, variance: float, stay: float, rising: bool, attain: bool
) -> float:
    """How much more entropy the polytope of constraints could give, to first order.

    Entropy is concave, so this bounds the true shortfall: a certificate by linear programming.
    """
    equal, right = [np.ones(len(p)), noise], [1.0, 0.0]
    below, least = [], []
    if attain:
        equal.append(noise**2)
        right.append(variance)
    else:
        below.append(noise**2)
        least.append(variance)
    if stay and 0 in noise:
        below.append(-(noise == 0).astype(float))
        least.append(-stay)
    if rising and 0 in noise:
        for k in np.flatnonzero(noise[1:] <= 0):
            step = np.zeros(len(p))
            step[k], step[k + 1] = 1.0, -1.0
            below.append(step)
            least.append(0.0)
    # Constraints hold.
    assert abs(p.sum() - 1) < 1e-10 and abs(p @ noise) < 1e-10
    for row, bound in zip(below, least, strict=True):
        assert row @ p <= bound + 1e-9
    for row, bound in zip(equal, right, strict=True):
        assert abs(row @ p - bound) < 1e-9
    gradient = -(np.log(np.maximum(p, 1e-300)) + 1)
    best = linprog(
        -gradient,
        A_ub=np.array(below) if below else None,
        b_ub=least or None,
        A_eq=np.array(equal),
        b_eq=right,
        bounds=(0, 1),
    )
    assert best.status == 0
    return float(-best.fun - gradient @ p)


@settings(max_examples=60, deadline=None)
@given(
    D=st.integers(1, 9),
    V=st.floats(0.05, 12),
    js=st.integers(0, 3),
    pstay=st.sampled_from([0.0, 0.0, 0.2, 0.6]),
    monotone=st.booleans(),
    attain=st.booleans(),
)
def test_largest_entropy(
    D: int,  # noqa: N803
    V: float,  # noqa: N803
    js: int,
    pstay: float,
    monotone: bool,
    attain: bool,
) -> None:
    try:
        found = perturbation_table(D=D, V=V, js=js, pstay=pstay, monotone=monotone, attain=attain)
    except InfeasibleError:
        assume(False)
    lowered = {u.row: u.stay for u in found.unreached if u.stay is not None}
    missed = {u.row for u in found.unreached}
    for count, (noise, p) in enumerate(rows(found)):
        if count == 0:
            continue
        assert (np.abs(noise) <= D).all() and not set(count + noise) & set(range(1, js + 1))
        variance = float(p @ noise**2)
        assert count in missed or abs(variance - V) < 5e-4
        if len(noise) == 1 or (count <= js and len(noise) == 2):
            continue  # nothing to choose
        free = monotone and count > js
        stay = lowered.get(count, pstay) if count > js else 0.0
        gap = optimality_gap(noise, p, variance=V, stay=stay, rising=free, attain=attain)
        assert gap < 1e-6, (count, gap)


def test_the_certificate_sees_a_wrong_row() -> None:
    noise, p = rows(perturbation_table(D=5, V=3))[5]
    wrong = p.copy()
    # Mean and variance kept, entropy lost.
    wrong[:4] += 0.002 * np.array([1, -3, 3, -1])
    assert wrong.min() > 0
    given_ = {"variance": 3.0, "stay": 0.0, "rising": False, "attain": False}
    assert optimality_gap(noise, p, **given_) < 1e-6
    assert optimality_gap(noise, wrong, **given_) > 1e-4


def test_staying_is_lowered_until_the_variance_is_reached() -> None:
    found = perturbation_table(D=5, V=3, pstay=0.7)
    by_row = {u.row: u for u in found.unreached}
    # The row of all large counts reaches V with staying at 0.7; the first never does.
    assert sorted(by_row) == [1, 2, 3, 4]
    assert by_row[4].variance == pytest.approx(3)
    lowered = round((0.7 - by_row[4].stay) / 0.05)
    assert by_row[4].stay == pytest.approx(0.7 - 0.05 * lowered) and lowered >= 1
    # One step less and the variance is missed.
    noise, p = rows(perturbation_table(D=5, V=3, pstay=by_row[4].stay + 0.05))[4]
    assert p[noise == 0] == pytest.approx(by_row[4].stay, abs=0.05)
    kept = perturbation_table(D=5, V=1, pstay=0.5)
    assert kept.unreached == ()
    assert all(np.isclose(p[noise == 0], 0.5).all() for noise, p in rows(kept)[1:])


@pytest.mark.parametrize("pstay", [0.0, 0.2, 0.4, 0.65])
def test_constraints_that_say_the_same(pstay: float) -> None:
    # With D = 1 the variance is 1 - P(stay): the curvature of the dual is singular.
    found = perturbation_table(D=1, V=0.3, pstay=pstay)
    assert found.unreached == ()
    assert found.transitions(1) == pytest.approx({-1: 0.15, 0: 0.7, 1: 0.15}, abs=2e-8)


def test_rows_without_a_solution_are_named() -> None:
    with pytest.raises(InfeasibleError, match="count 1: going to 0 or to 3") as raised:
        perturbation_table(D=5, V=1, js=2)
    assert raised.value.detail.splitlines()[1].startswith("count 2:")
    with pytest.raises(InfeasibleError, match="takes D of at least 2"):
        perturbation_table(D=1, V=9, js=2)
    with pytest.raises(InfeasibleError, match="count 1: no noise has variance 20, at most 9 is"):
        perturbation_table(D=9, V=20, attain=True, monotone=False)
    with pytest.raises(InfeasibleError, match=r"count 1: .* 9 with the bounds on staying and on"):
        perturbation_table(D=9, V=9, attain=True)
    wide = perturbation_table(D=9, V=9, attain=True, monotone=False)
    assert wide.transitions(1) == pytest.approx({-1: 0.9, 9: 0.1}, abs=2e-8)
    with pytest.raises(ParameterError) as wrong:
        perturbation_table(D=0, V=-1, js=-1, pstay=2)
    assert set(wrong.value.fields) == {"D", "V", "js", "pstay"}
    # The smallest possible variance is a corner: both neighbours only.
    at_corner = perturbation_table(D=5, V=2, js=2)
    assert at_corner.transitions(1) == pytest.approx({-1: 2 / 3, 2: 1 / 3}, abs=2e-8)


@settings(max_examples=40, deadline=None)
@given(
    counts=st.lists(st.integers(0, 30), min_size=1, max_size=40),
    seed=st.integers(0, 2**32),
    ons=st.booleans(),
)
def test_lookup_is_the_first_interval_above_the_key(counts: list[int], seed: int, ons: bool) -> None:
    table = in_ons_form() if ons else perturbation_table(D=5, V=3, js=2)
    generator = np.random.default_rng(seed)
    keys = generator.integers(0, KEYS, len(counts))
    # Ends themselves belong to the next interval.
    exact = generator.choice(table.upper[table.upper < KEYS], len(counts))
    keys = np.where(generator.random(len(counts)) < 0.3, exact, keys)
    found = table.noise_of(np.array(counts), keys)
    for count, key, noise in zip(counts, keys, found, strict=True):
        row = min(count, table.rows - 1)
        ends = table.upper[table.starts[row] : table.starts[row + 1]]
        first = next(k for k, end in enumerate(ends) if key < end)
        assert noise == table.noise[table.starts[row] + first]


def test_large_counts_use_rows_in_turn() -> None:
    table = in_ons_form()
    assert table.rows == 751
    counts = np.array([0, 1, 750, 751, 1000, 1001, 4000])
    expected = [n if n <= 750 else (n - 1) % 250 + 501 for n in counts.tolist()]
    assert table.row_of(counts).tolist() == expected


def test_ptable_text_keeps_everything(tmp_path: Path) -> None:
    table = perturbation_table(D=5, V=3, js=2)
    text = files.to_ptable(table)
    assert text.startswith("i;j;p;v;p_int_ub\n0;0;1;0;1\n1;0;0.734") and "e-" not in text
    for form in (
        text,
        text.replace("i;j;p;v;p_int_ub", "i;j;p_ij;v;p_ij_ub"),
        text.replace(".", ",").replace("\n", "\r\n"),
        # With the lower ends too, as the object's own table is written.
        re.sub(r";([^;\n]*)$", r";0;\1", text, flags=re.MULTILINE).replace(";0;p", ";p_int_lb;p"),
        json.dumps(files.to_json(table)),
    ):
        path = tmp_path / "table.txt"
        path.write_text(form)
        again = files.read(path)
        assert np.array_equal(again.upper, table.upper)
        assert np.array_equal(again.noise, table.noise)
        assert np.abs(again.matrix - table.matrix).max() < 1e-8


def test_shuffled_intervals_are_kept() -> None:
    # As ptable's modify_cnt_ptable cuts and shuffles long intervals.
    text = "i;j;p;v;p_int_ub\n0;0;1;0;1\n1;2;0.2;1;0.2\n1;0;0.5;-1;0.7\n1;2;0.3;1;1\n"
    table = files.from_text(text)
    assert table.transitions(1) == pytest.approx({1: 0.5, -1: 0.5})
    keys = np.array([0.1, 0.3, 0.9]) * KEYS
    assert table.noise_of(np.ones(3, dtype=int), keys.astype(int)).tolist() == [1, -1, 1]


def test_ons_keys_round_to_their_grid() -> None:
    table = perturbation_table(D=5, V=3, js=2)
    again = in_ons_form()
    for row in range(table.rows):
        true, found = table.transitions(row), again.transitions(row)
        far = max(abs(true.get(v, 0.0) - found.get(v, 0.0)) for v in true | found)
        assert 0 < far <= 1 / 256 + 1e-7 or row == 0
    assert files.to_ons(again) == files.to_ons(table)
    with pytest.raises(InputError, match="several rows in turn"):
        files.to_ptable(again)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a;b\n1;2\n", "these are the columns a, b"),
        ("i;j;p;v;p_int_ub;type\n0;0;1;0;1;even\n", "for magnitudes: even"),
        ("i;j;p;v;p_int_ub\n0;0;1;0\n", "line 2: not 5 numbers"),
        ("i;j;p;v;p_int_ub\n0;0;1;0;1\n1;3;1;1;1\n", "line 3: v is not j - i"),
        ("i;j;p;v;p_int_ub\n0;0;1;0;1\n1;2;0.5;1;0.5\n", "count 1 .* add up to 0.5, not to 1"),
        ("i;j;p;v;p_int_ub\n0;0;1;0;1\n1;2;0.5;1;0.7\n1;0;0.5;-1;1\n", "line 3: the upper end"),
        ("i;j;p;v;p_int_ub\n0;1;1;1;1\n1;1;1;0;1\n", "changes the count 0"),
        ("i;j;p;v;p_int_ub\n0;0;1;0;1\n1;-1;1;-2;1\n", "makes a count negative"),
        ("i;j;p;v;p_int_ub\n0;0;1;0;1\n2;2;1;0;1\n", "the count 1 has no row"),
        ("pcv,ckey,pvalue\n1,0,0\n1,2,0\n", "pcv 1 does not list every key"),
        ("", "empty"),
        ('{"i": [0], "v": "x"}', "v: must be a list, is 'x'"),
    ],
)
def test_bad_files(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=words) as raised:
        files.read(path)
    assert raised.value.file == str(path)


def test_a_table_says_what_it_never_publishes() -> None:
    table = perturbation_table(D=5, V=3, js=2)
    assert (table.never, table.largest) == (2, 5)
    assert table.bias < 1e-6
    assert perturbation_table(D=5, V=3).never == 0


def test_a_table_of_ptable_for_all_counts() -> None:
    plain = "i;j;p;v;p_int_ub\n0;0;1;0;1\n1;0;0.5;-1;0.5\n1;2;0.5;1;1\n"
    rows = plain.splitlines()
    for text in (
        "\n".join([rows[0] + ";type", *(row + ";all" for row in rows[1:])]),
        "\n".join(["type;" + rows[0], *('"all";' + row.replace(".", ",") for row in rows[1:])]),
        "\n".join(
            [
                rows[0] + ";p_int_lb;type",
                *(f"{row};{low};all" for row, low in zip(rows[1:], (0, 0, 0.5), strict=True)),
            ]
        ),
    ):
        assert files.to_ptable(files.from_text(text)) == files.to_ptable(files.from_text(plain))
