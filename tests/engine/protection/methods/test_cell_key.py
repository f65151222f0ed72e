"""Cell keys: the paper's table, the promises, and the posterior against simulation."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.bundle import public
from tabprotect.engine.errors import InfeasibleError, InputError, Interrupted, ParameterError
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.progress import Cancellable
from tabprotect.engine.protection import guarantees
from tabprotect.engine.protection.cell_keys import perturbation_files as files
from tabprotect.engine.protection.cell_keys.perturbation_table import PerturbationTable, perturbation_table
from tabprotect.engine.protection.problem import Draft, Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import KEY_MODULUS, Randomness
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

REFERENCE = json.loads((Path(__file__).parents[3] / "reference" / "cell_key.json").read_text())
METHOD = methods()["cell_key"]


def draw(problem: Problem, seed: int = 0, **given: object) -> Draft:
    values = METHOD.resolve(problem.table.domain, given)
    return METHOD.draw(problem, values, np.random.default_rng(seed))


def random_problem(generator: np.random.Generator, shape: tuple[int, ...]) -> Problem:
    domain = Domain.of_shape(shape)
    table = Table.dense(domain, generator.poisson(2.5, shape))
    keys = np.where(table.counts > 0, generator.integers(0, KEY_MODULUS, shape), 0)
    return Problem(table, record_keys=Table.dense(domain, keys))


def paper() -> tuple[Problem, dict[tuple[str, str, str], int]]:
    """Table 1 of the paper with the keys found by replay, and Table 3."""
    data = REFERENCE["table3"]
    names = ("party", "age", "sex")
    labels = {name: sorted(set(data[name])) for name in names}
    domain = Domain.of(labels)
    counts, keys = np.zeros(domain.shape, int), np.zeros(domain.shape, int)
    columns = zip(*(data[name] for name in names), data["freq"], data["record_key"], strict=True)
    for *cell, count, key in columns:
        counts[domain.index(cell)] = count
        keys[domain.index(cell)] = round(key * KEY_MODULUS)
    published = data["published"]
    cells = zip(*(published[name] for name in names), published["perturbed"], strict=True)
    problem = Problem(Table.dense(domain, counts), record_keys=Table.dense(domain, keys))
    return problem, {(a, b, c): n for a, b, c, n in cells}


def test_the_papers_table() -> None:
    problem, expected = paper()
    found = {}
    draft = draw(problem, D=5, V=3, js=2, margins="party*(age + sex)", keys="records")
    for published in draft.tables:
        table = published.table
        for index in np.ndindex(table.domain.shape):
            given_ = dict(zip(table.domain.names, table.domain.labels(index), strict=True))
            cell = tuple(given_.get(name, "Total") for name in ("party", "age", "sex"))
            found[cell] = table[index]
    assert len(expected) == 24 and found == expected


def slow(table: PerturbationTable, count: int, key: int) -> int:
    """The look-up as the sources describe it."""
    if count == 0:
        return 0
    row = min(count, table.rows - 1)
    for at in range(table.starts[row], table.starts[row + 1]):
        if key < table.upper[at]:
            return count + int(table.noise[at])
    raise AssertionError


@settings(max_examples=40, deadline=None)
@given(
    shape=st.sampled_from([(4, 3), (3, 2, 4), (5,), (2, 2, 2, 3)]),
    seed=st.integers(0, 2**32),
    js=st.integers(0, 2),
    sparse=st.booleans(),
)
def test_promises(shape: tuple[int, ...], seed: int, js: int, sparse: bool) -> None:
    problem = random_problem(np.random.default_rng(seed), shape)
    dense = problem
    if sparse:
        keys = problem.record_keys
        assert keys is not None
        problem = Problem(
            Table.sparse(problem.table.domain, *problem.table.cells),
            record_keys=Table.sparse(keys.domain, *keys.cells),
        )
    draft = draw(problem, D=4, V=3, js=js, margins="*".join(problem.table.domain.names))
    assert len(draft.tables) == 2 ** len(shape)
    assert draft.tables[0].table.domain == problem.table.domain
    noise = perturbation_table(D=4, V=3, js=js)
    assert dense.record_keys is not None
    for published in draft.tables:
        names = published.table.domain.names
        truth = dense.table.margin(names).counts
        key = dense.record_keys.margin(names).counts % KEY_MODULUS
        counts = published.table.counts
        assert (counts[truth == 0] == 0).all() and (counts >= 0).all()
        assert (np.abs(counts - truth) <= 4).all()
        assert not ((counts >= 1) & (counts <= js)).any()
        for index in np.ndindex(counts.shape):
            assert counts[index] == slow(noise, int(truth[index]), int(key[index]))


def test_the_same_records_get_the_same_noise() -> None:
    generator = np.random.default_rng(4)
    problem = random_problem(generator, (6, 8))
    counts = np.array(problem.table.counts)
    # In the first row only one cell holds records: its total is about the same records.
    counts[0] = 0
    counts[0, 3] = 7
    assert problem.record_keys is not None
    keys = np.where(counts > 0, problem.record_keys.counts + 1, 0)
    domain = problem.table.domain
    problem = Problem(Table.dense(domain, counts), record_keys=Table.dense(domain, keys))
    for seed in range(5):
        inner, rows, *_ = draw(problem, seed).tables
        assert rows.table.domain.names == ("A",)
        assert rows.table[(0,)] == inner.table[(0, 3)]
    # Keys of the table decide alone; without them a run draws its own, and the totals agree still.
    assert draw(problem, 1).tables == draw(problem, 2).tables
    bare = replace(problem, record_keys=None)
    drafts = [draw(bare, seed) for seed in range(30)]
    assert len({d.tables[0].table.counts.tobytes() for d in drafts}) == 30
    assert all(d.tables[1].table[(0,)] == d.tables[0].table[(0, 3)] for d in drafts)
    assert "drawn for this run" in drafts[0].sentence


def test_keys_that_are_needed_and_missing() -> None:
    bare = replace(random_problem(np.random.default_rng(1), (3, 3)), record_keys=None)
    with pytest.raises(ParameterError, match="keys: the table has no record keys"):
        METHOD.run(bare, {"keys": "records"}, Randomness.fresh())


def test_the_preview_does_not_see_the_stored_keys() -> None:
    # Else it would show the outcome.
    generator = np.random.default_rng(2)
    one = random_problem(generator, (6, 5))
    assert one.record_keys is not None
    other = replace(one, record_keys=Table.dense(one.table.domain, one.record_keys.counts * 7 + 1))
    first, second = (METHOD.preview(problem, {}) for problem in (one, other))
    assert first.change == second.change and first.runs > 1
    released = [METHOD.run(one, {}, Randomness.fresh()).release for _ in range(2)]
    assert released[0].tables == released[1].tables


def test_parameters() -> None:
    domain = Domain.of_shape((2, 2))
    with pytest.raises(ParameterError) as wrong:
        METHOD.resolve(domain, {"D": 0, "V": -1, "pstay": 2, "keys": "x"})
    assert set(wrong.value.fields) == {"D", "V", "pstay", "keys"}
    with pytest.raises(InfeasibleError, match="count 1: going to 0 or to 3"):
        METHOD.resolve(domain, {"D": 5, "V": 1, "js": 2})
    with pytest.raises(ParameterError, match=r"table: .*no such file"):
        METHOD.resolve(domain, {"table": "nowhere.txt"})
    for given_ in ({"margins": "A*Z"}, {"groupings": "g:Z=1>2"}):
        with pytest.raises(ParameterError, match="no variable") as wrong:
            METHOD.resolve(domain, {**given_, "D": 0})
        assert set(wrong.value.fields) == {*given_, "D"}


def test_a_table_from_a_file_is_public_and_decides(tmp_path: Path) -> None:
    path = tmp_path / "table.txt"
    path.write_text(files.to_ptable(perturbation_table(D=3, V=2, js=1)))
    problem = random_problem(np.random.default_rng(3), (4, 5))
    from_file = METHOD.run(problem, {"table": str(path)}, Randomness.fresh()).release
    made = METHOD.run(problem, {"D": 3, "V": 2, "js": 1}, Randomness.fresh()).release
    assert from_file.tables == made.tables
    stated = json.loads(from_file.mechanism.to_text())
    assert (stated["D"], stated["js"]) == (3, 1) and stated["V"] == pytest.approx(2, abs=1e-6)
    # Readers' texts follow from the mechanism alone.
    assert public.to_bytes(from_file, page=False)
    assert set(stated["table"]) == {"i", "v", "end", "period"}
    again = Mechanism.from_json(stated, from_file.domain)
    path.unlink()
    found = infer(likelihood_of(Release(from_file.tables, again)))
    expected = infer(likelihood_of(made))
    assert np.allclose(found.chances, expected.chances, atol=1e-12)
    assert np.array_equal(found.first, expected.first)
    biased = "i;j;p;v;p_int_ub\n0;0;1;0;1\n1;2;1;1;1\n"
    path.write_text(biased)
    values = METHOD.resolve(problem.table.domain, {"table": str(path)})
    assert "unbiased" not in METHOD.promised(values)
    assert "unbiased" in METHOD.promised(METHOD.resolve(problem.table.domain, {}))


def test_nothing_confidential_is_released() -> None:
    problem = random_problem(np.random.default_rng(5), (3, 4))
    protected = METHOD.run(problem, {}, Randomness.seeded(987654321))
    text = protected.release.mechanism.to_text() + repr(protected.release)
    assert problem.record_keys is not None
    for secret in (987654321, *problem.record_keys.counts[problem.table.counts > 0].tolist()):
        assert str(secret) not in text


def test_posterior_is_the_row_of_the_table() -> None:
    # Uniform prior: proportional to the column of the exact matrix.
    problem = random_problem(np.random.default_rng(6), (5, 5))
    release = METHOD.run(problem, {"margins": "A:B - 1"}, Randomness.fresh()).release
    found = infer(likelihood_of(release))
    assert found.way == "exact" and found.note == ""
    table = perturbation_table(D=5, V=3, js=2)
    for cell, published in enumerate(release.table.counts.reshape(-1).tolist()):
        column = {
            true: table.transitions(int(table.row_of(np.array([true]))[0])).get(published - true, 0.0)
            for true in range(published + 6)
        }
        total = sum(column.values())
        row = found.chances[found.group_of_cell[cell]]
        first = int(found.first[cell])
        for true, chance in column.items():
            at = true - first
            here = row[at] if 0 <= at < len(row) else 0.0
            assert here == pytest.approx(chance / total, abs=1e-12)


def test_notes_and_margins_without_inner_cells() -> None:
    problem = random_problem(np.random.default_rng(7), (4, 5, 3))
    whole = METHOD.run(problem, {}, Randomness.fresh()).release
    assert "key of a total" in infer(likelihood_of(whole)).note
    part = METHOD.run(problem, {"margins": "A*B + C"}, Randomness.fresh()).release
    assert part.inner is None and part.domain.names == ("A", "B", "C")
    likelihood = likelihood_of(part)
    found = infer(likelihood)
    assert found.domain.names == ("A", "B") and "for A × B by itself" in found.note


@pytest.mark.parametrize(
    ("wrong", "label"),
    [
        ({"D": 1, "V": 0.5, "js": 0}, "noise within its bound: a change of more than 1"),
        ({"js": 4, "D": 12, "V": 8.0}, "small counts avoided: a count between 1 and 4"),
    ],
)
def test_a_broken_promise_is_seen(wrong: dict[str, float], label: str) -> None:
    problem = random_problem(np.random.default_rng(12), (10, 10))
    values = METHOD.resolve(problem.table.domain, {})
    draft = METHOD.draw(problem, values, np.random.default_rng(0))
    guarantees.verify(METHOD, problem, values, draft)
    with pytest.raises(InfeasibleError) as raised:
        guarantees.verify(METHOD, problem, values | wrong, draft)
    assert label in raised.value.detail


def test_cancelling() -> None:
    problem = random_problem(np.random.default_rng(9), (3, 3))
    stop = Cancellable()
    stop.cancel()
    values = METHOD.resolve(problem.table.domain, {})
    with pytest.raises(Interrupted):
        METHOD.draw(problem, values, np.random.default_rng(0), stop)


def test_groupings_get_the_noise_of_their_records() -> None:
    problem = random_problem(np.random.default_rng(10), (4, 5))
    given_ = {"groupings": "AA:A=a1>x,a2>x,a3>y,a4>y", "margins": "AA*B"}
    tables = {p.table.domain.names: p.table for p in draw(problem, **given_).tables}
    assert set(tables) == {("AA", "B"), ("AA",), ("B",), ()}
    assert problem.record_keys is not None
    truth, keys = (t.counts.reshape(2, 2, 5) for t in (problem.table, problem.record_keys))
    noise = perturbation_table(D=5, V=3, js=2)
    for index in np.ndindex(2, 5):
        count, key = (int(x.sum(axis=1)[index]) for x in (truth, keys))
        assert tables["AA", "B"][index] == slow(noise, count, key % KEY_MODULUS)


def test_a_count_that_cannot_be() -> None:
    problem = random_problem(np.random.default_rng(8), (3, 3))
    release = METHOD.run(problem, {"margins": "A:B - 1"}, Randomness.fresh()).release
    one = Table.dense(release.domain, np.ones((3, 3), dtype=int))
    with pytest.raises(InputError, match="published count of 1 cannot come from"):
        likelihood_of(Release.of(one, release.mechanism))
