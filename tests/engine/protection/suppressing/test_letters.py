"""Suppression by letters: the law, the whole law by enumeration, and what the choice may look at."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.cycles import graphs
from tabprotect.engine.disclosure import gate
from tabprotect.engine.errors import InputError, ParameterError, RefusedError
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.protection.cell_chance import cell_uniforms
from tabprotect.engine.protection.methods.suppression import PLUGIN
from tabprotect.engine.protection.problem import Problem, Protected
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.subtables import publication_of
from tabprotect.engine.protection.suppressing.letters import LARGEST, LetterLaw, as_text
from tabprotect.engine.protection.suppressing.planned import LETTERS, hide
from tabprotect.engine.randomness import Coins, Randomness
from tabprotect.engine.release.likelihood import product
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.sensitivity.roles import Roles
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

REFERENCE = json.loads((Path(__file__).parents[3] / "reference" / "letters.json").read_text())
RULE = SmallCount(1, 2)
LAW = LetterLaw(RULE, 0.7, 5)
HALF_OF_ZEROS = LetterLaw(RULE, 0.7, 5, 0.5)
GIVEN: dict[str, object] = {"choice": "letters"}


def _table(counts: object) -> Table:
    array = np.array(counts)
    domain = Domain.of(
        {name: [f"{name}{k}" for k in range(n)] for name, n in zip("vwxy", array.shape, strict=False)}
    )
    return Table.dense(domain, array)


def _run(counts: object, seed: int = 1, **more: object) -> Protected:
    return PLUGIN.run(Problem(_table(counts), at_risk=RULE), GIVEN | more, Randomness.seeded(seed))


@pytest.mark.parametrize("name", ["small_count_rounding", "controlled_rounding", "suppression"])
def test_letters_of_rounding_are_no_classes(name: str) -> None:
    """What was published by open rounding, or without letters, says nothing of classes."""
    table = _table([[4, 1, 7], [2, 9, 6]])
    given = {"choice": "cheapest"} if name == "suppression" else {"choice": "open"}
    first = methods()[name].run(Problem(table), given, Randomness.seeded(1)).release
    beside = PLUGIN.beside(table.domain, PLUGIN.resolve(table.domain, GIVEN), [first])
    assert LARGEST.name not in beside


def test_law() -> None:
    assert LetterLaw(RULE, 0.7, 30).ends.tolist() == [2, 6, 14, 30]
    assert LetterLaw(RULE, 0.7, 31).ends.tolist() == [2, 6, 14, 31]
    for half, largest, rule, zeros in itertools.product(
        (0.1, 0.7, 1.5), (8, 23, 100), (RULE, SmallCount(1, 9), SmallCount(0, 3)), (0.0, 0.5)
    ):
        law = LetterLaw(rule, half, max(largest, rule.high + int(5 * half)), zeros)
        chances = law.chances
        np.testing.assert_allclose(chances.sum(axis=1), 1.0, atol=1e-15)
        assert (chances >= 0).all()
        at_risk = np.arange(1, rule.high + 1)
        assert (chances[at_risk, 0] == 1.0).all()
        # The plan is at risk exactly where the letter is P, and P is nowhere else certain.
        assert (law.at_risk.mask(law.planned[: law.open_letter + 1])).nonzero()[0].tolist() == [0]
        assert (chances[rule.high + 1 :, 0] < 1).all()
        for letter in range(law.open_letter):
            low, _, logs = law.support(letter)
            assert logs is not None
            np.testing.assert_allclose(np.exp(logs), chances[low : low + len(logs), letter])


@pytest.mark.parametrize("case", REFERENCE["cases"], ids=lambda case: str(case["name"]))
def test_reference(case: dict[str, Any]) -> None:
    for seed in range(1, 400):
        done = _run(case["table"], seed)
        totals = sum(int(one.hidden.sum()) for one in done.release.tables[1:])
        stated = done.release.mechanism.parameters
        if (stated[LETTERS], totals) == (case["letters"], case["hidden_totals"]):
            break
    assert stated["largest_class"] == case["vk"]
    posterior = infer(PLUGIN.likelihood(done.release))
    assert posterior.originals == case["originals"]
    for cell, expected in case["posterior"].items():
        index = tuple(int(place[1:]) for place in cell.split(","))
        values, chances = posterior.distribution(index)
        found = dict(zip(map(str, values.tolist()), chances.tolist(), strict=True))
        assert found == pytest.approx(expected, abs=1e-9)


def _by_count(law: LetterLaw) -> Floats:
    return np.asarray(law.chances[np.minimum(np.arange(20), law.largest + 1)])


def _chances(each: Floats, originals: Ints, letters: Ints, *, looks: bool) -> Floats:
    """P(letters | original) of each original (originals, cells); ``looks``: one looks at its neighbour."""
    chances = np.prod(each[originals, letters], axis=1)
    if not looks:
        return chances
    seen = np.where(originals[:, 1] % 2 == 0, originals[:, 0], originals[:, 0] % 3 + 1)
    own = each[originals[:, 0], letters[0]]
    other = each[seen, letters[0]]
    return np.where(own > 0, chances * other / np.maximum(own, 1e-300), 0.0)


def _worst(
    shape: tuple[int, ...], most: int, law: LetterLaw = LAW, *, looks: bool = False
) -> tuple[int, float]:
    """All originals, all letters: releases, and how far P(release | original) is from the product.

    Relative, within the originals that agree with a release.
    """
    cells, each = int(np.prod(shape)), _by_count(law)
    originals = np.array(list(itertools.product(range(not law.zeros, most + 1), repeat=cells)))
    like = _table(originals[-1].reshape(shape))
    values = PLUGIN.resolve(like.domain, GIVEN | {"zeros": "often" if law.zeros else "published"})
    publication = publication_of(like.domain, values)
    sums = np.asarray((publication.incidence @ originals.T).T)
    problem = Problem(like, at_risk=RULE)
    chances: dict[tuple[bytes, bytes], Floats] = defaultdict(lambda: np.zeros(len(originals)))
    known = range(len(law.planned) if law.zeros else law.open_letter + 1)
    run = slice(int(publication.starts[publication.domains.index(like.domain)]), None)
    for letters in itertools.product(known, repeat=cells):
        drawn = np.array(letters)
        weights = _chances(each, originals, drawn, looks=looks)
        if not weights.any():
            continue
        hidden = hide(problem, publication, values, law, drawn).hidden
        inner = hidden[run][:cells]
        chances[hidden.tobytes(), np.where(inner, drawn, -1).tobytes()] += weights
    releases, worst = 0, 0.0
    for (pattern, told), found in chances.items():
        hidden, letters = np.frombuffer(pattern, dtype=bool), np.frombuffer(told, dtype=np.int64)
        at = np.flatnonzero(letters >= 0)
        product = np.prod(each[originals[:, at], letters[at]], axis=1)
        visible = np.where(hidden, -1, sums)
        _, group = np.unique(visible, axis=0, return_inverse=True)
        for number in range(int(group.max()) + 1):
            alike = (group.reshape(-1) == number) & ((product > 0) | (found > 0))
            if found[alike].any():
                releases += 1
                share = found[alike] / found[alike].sum()
                worst = max(worst, float(abs(share - product[alike] / product[alike].sum()).max()))
    return releases, worst


@pytest.mark.parametrize(
    ("shape", "most", "law"), [((2, 2), 7, LAW), ((2, 3), 4, LAW), ((2, 2), 5, HALF_OF_ZEROS)]
)
def test_whole_law_is_the_product_of_the_letters(shape: tuple[int, ...], most: int, law: LetterLaw) -> None:
    releases, worst = _worst(shape, most, law)
    assert releases > 100
    assert worst < 1e-13


def test_a_letter_that_looks_at_a_neighbour_is_found() -> None:
    assert _worst((2, 2), 7, looks=True)[1] > 0.01


@pytest.mark.parametrize("zeros", ["allowed", "often"])
def test_no_small_sum_is_published_where_zeros_may_be_planned_as_small(zeros: str) -> None:
    counts = [[1, 0, 0, 0], [0, 2, 0, 9], [0, 0, 14, 6], [7, 0, 5, 3]]
    for seed in range(12):
        for one in _run(counts, seed, zeros=zeros).release.tables:
            assert not RULE.mask(one.table.counts[~one.hidden]).any()


def test_a_group_in_one_category_is_hidden_where_its_variable_is_sensitive() -> None:
    problem = Problem(_table([[0, 0, 25], [10, 12, 9], [8, 14, 20]]), at_risk=RULE)
    judged = replace(problem, roles=Roles({"w": ()}))
    assert PLUGIN.resolve_for(problem, {})["zeros"] == "published"
    assert PLUGIN.resolve_for(judged, {})["zeros"] == "often"
    done = gate.protect(PLUGIN, judged, {}, Randomness.seeded(1))
    assert done.record.verdict is not None and done.record.verdict.passed and not done.record.verdict.left_out
    with pytest.raises(RefusedError, match="all share one category"):
        gate.protect(PLUGIN, judged, {"zeros": "published"}, Randomness.seeded(1))


def test_a_letter_is_drawn_by_its_own_count_alone() -> None:
    """Whatever the other counts are, and as often as the law has it."""
    generator = np.random.default_rng(3)
    counts = np.tile(np.arange(10), (40, 100))
    letters = LAW.draw(_table(counts), b"key").reshape(counts.shape)
    for _ in range(3):
        kept = generator.random(counts.shape) < 0.5
        other = np.where(kept, counts, generator.integers(0, 10, counts.shape))
        np.testing.assert_array_equal(
            LAW.draw(_table(other), b"key").reshape(counts.shape)[kept], letters[kept]
        )
    for count in range(10):
        chances = _by_count(LAW)[count]
        drawn = letters[counts == count]
        shares = np.bincount(drawn, minlength=len(chances)) / len(drawn)
        assert (abs(shares - chances) <= 5 * np.sqrt(chances * (1 - chances) / len(drawn))).all()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([(3, 4), (2, 2, 3)]))
def test_the_choice_never_sees_a_count(seed: int, shape: tuple[int, ...]) -> None:
    generator = np.random.default_rng(seed)
    table = _table(generator.poisson(3, shape))
    values = PLUGIN.resolve(table.domain, GIVEN)
    publication = publication_of(table.domain, values)
    letters = LAW.draw(table, b"key")
    first = hide(Problem(table, at_risk=RULE), publication, values, LAW, letters)
    # Other counts that have the same zeros may have the same letters.
    counts = table.counts.reshape(-1)
    other = np.where(counts > 0, generator.integers(1, 200, len(counts)), 0).reshape(shape)
    second = hide(Problem(_table(other), at_risk=RULE), publication, values, LAW, letters)
    np.testing.assert_array_equal(first.hidden, second.hidden)
    assert first.hidden[first.task.primary].all()
    assert not (first.hidden & (first.task.values == 0)).any()


def test_an_infeasible_plan_hides_all_that_is_not_zero() -> None:
    counts = [[1, 0, 0], [0, 9, 12], [0, 8, 11]]
    done = _run(counts, totals="published", level=3)
    inner = done.release.tables[0]
    np.testing.assert_array_equal(inner.hidden, np.array(counts) > 0)
    assert "hidden" in done.record.sentence


def test_uniforms_belong_to_labels() -> None:
    table = _table(np.arange(1, 13).reshape(3, 4))
    cells = np.arange(12)
    own = cell_uniforms(table.domain, cells, b"key").reshape(3, 4)
    assert len(np.unique(own)) == 12 and (own >= 0).all() and (own < 1).all()
    turned = Domain.of({"w": list(reversed(table.domain.variables[1].categories)), "v": ["v2", "v0"]})
    other = cell_uniforms(turned, np.arange(8), b"key").reshape(4, 2)
    np.testing.assert_array_equal(other, own[[2, 0]][:, ::-1].T)
    assert (cell_uniforms(table.domain, cells, b"other").reshape(3, 4) != own).all()
    # Names and categories that read alike when joined are told apart.
    first = cell_uniforms(Domain.of({"a": ["bc"], "d": ["e"]}), np.zeros(1, np.int64), b"key")
    assert first != cell_uniforms(Domain.of({"a": ["b"], "d": ["ce"]}), np.zeros(1, np.int64), b"key")


def test_vintages_share_their_letters() -> None:
    """One person fewer: the letters of all other cells are the same, and nothing is left by subtraction."""
    generator = np.random.default_rng(2026)
    counts = generator.poisson(generator.gamma(0.8, 6 / 0.8, (12, 8)))
    later = counts.copy()
    later[tuple(np.argwhere(counts > 3)[0])] -= 1
    law = LetterLaw(RULE, 0.7, 8)
    letters = [law.draw(_table(one), b"key") for one in (counts, later)]
    assert (letters[0] != letters[1]).sum() <= 1
    others = LetterLaw(RULE, 0.7, 8).draw(_table(later), b"another key")
    assert (letters[0] != others).sum() > 5


def _on_no_ring(hidden: tuple[Bools, Bools, Bools]) -> set[tuple[int, int]]:
    """The hidden inner cells that published sums of rows and columns give back."""
    inner, rows, columns = hidden
    number = inner.shape[0]
    outside = number + inner.shape[1]
    edges = [(int(i), number + int(j)) for i, j in np.argwhere(inner)]
    beyond = [(int(i), outside) for i in np.flatnonzero(rows)]
    beyond += [(number + int(j), outside) for j in np.flatnonzero(columns)]
    out = set()
    for at, (row, column) in enumerate(edges):
        others = np.array(edges[:at] + edges[at + 1 :] + beyond)
        label = graphs.components(others[:, 0], others[:, 1], outside + 1)
        if label[row] != label[column]:
            out.add((row, column - number))
    return out


def test_no_small_count_is_left_by_subtracting_the_next_vintage() -> None:
    """One person fewer, each time beside the release that left: every small count stays on a ring.

    Chosen anew, the patterns of these pairs leave small counts on none.
    """
    generator = np.random.default_rng(7)
    counts = generator.poisson(generator.gamma(0.8, 6 / 0.8, (12, 8)))
    first = PLUGIN.run(
        Problem(Table.dense(Domain.of_shape((12, 8)), counts)), {}, Randomness(5, given=False, coins="house")
    ).release
    hidden = {one.table.domain.ndim: one.hidden for one in first.tables}
    assert not {
        c for c in _on_no_ring((hidden[2], *(first.tables[k].hidden for k in (1, 2)))) if counts[c] < 3
    }
    for cell in ((2, 6), (4, 4), (0, 0)):
        later = counts.copy()
        later[cell] -= 1 if counts[cell] else 0
        problem = Problem(Table.dense(Domain.of_shape((12, 8)), later))
        beside = PLUGIN.beside(first.domain, PLUGIN.resolve_for(problem, {}), [first])
        assert beside[LARGEST.name] == first.mechanism.parameters[LARGEST.name]
        second = PLUGIN.run(problem, beside, Randomness(5, given=False, coins="house")).release
        both = [a.hidden & b.hidden for a, b in zip(first.tables, second.tables, strict=True)]
        assert [one.ndim for one in both[:3]] == [2, 1, 1]
        given_back = _on_no_ring((both[0], both[1], both[2]))
        assert not {c for c in given_back if 0 < counts[c] < 3 and 0 < later[c] < 3}


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6))
def test_every_release_is_possible_and_hides_what_is_small(seed: int) -> None:
    generator = np.random.default_rng(seed)
    counts = generator.poisson(4, (4, 5))
    zeros = "allowed" if seed % 2 else "published"
    rule = SmallCount(0, 1) if seed % 3 == 0 else RULE
    problem = Problem(_table(counts), at_risk=rule)
    done = PLUGIN.run(problem, GIVEN | {"zeros": zeros}, Randomness.seeded(seed))
    likelihood = PLUGIN.likelihood(done.release)
    low, high = likelihood.ends
    true = np.add.reduceat(counts.reshape(-1)[likelihood.cells], likelihood.starts[:-1])
    assert ((true >= low) & (true <= high)).all()
    assert done.release.tables[0].hidden[rule.mask(counts)].all()
    assert likelihood.rerun is None and not likelihood.left_out


def test_leaves_whole_without_a_reason() -> None:
    problem = Problem(_table([[15, 1, 3, 1], [20, 10, 10, 15], [3, 10, 10, 2], [12, 14, 7, 2]]))
    done = gate.protect(PLUGIN, problem, GIVEN, Randomness.seeded(11))
    assert done.verdict.passed and done.verdict.left_out == ()


def test_the_same_letters_tell_nothing_twice() -> None:
    """Two releases of one table by the house's coins, and by other ones, against all originals."""
    counts = [[1, 4, 3], [5, 2, 9]]
    problem = Problem(_table(counts), at_risk=RULE)
    draws: list[tuple[int, int, Coins]] = [(1, 1, "house"), (1, 2, "house"), (1, 1, "fresh")]
    first, again, other = (
        PLUGIN.likelihood(
            PLUGIN.run(problem, GIVEN | {"level": level}, Randomness(seed, given=False, coins=coins)).release
        )
        for seed, level, coins in draws
    )
    alone, twice = infer(first), infer(product([first, again]))
    np.testing.assert_allclose(alone.mean, twice.mean, atol=1e-12)
    both = infer(product([first, other]))
    weights: dict[bytes, float] = {}
    tables, chances = alone.list_originals() or (np.zeros((0, 6)), np.zeros(0))
    apart, beside = infer(other).list_originals() or (np.zeros((0, 6)), np.zeros(0))
    for table, chance in zip(apart, beside, strict=True):
        weights[table.tobytes()] = chance
    joint = chances * np.array([weights.get(table.tobytes(), 0.0) for table in tables])
    np.testing.assert_allclose(both.mean.reshape(-1), joint @ tables / joint.sum(), atol=1e-9)
    assert np.abs(both.mean - alone.mean).max() > 1e-3


def test_letters_that_are_not_those_of_the_cells_are_refused() -> None:
    release = _run([[1, 4, 3], [5, 2, 9]]).release
    stated = dict(release.mechanism.parameters)
    for wrong in (None, "", str(stated[LETTERS]) + "0", "z" * len(str(stated[LETTERS]))):
        mechanism = type(release.mechanism)("suppression", release.domain, stated | {LETTERS: wrong})
        with pytest.raises(InputError, match="letter"):
            PLUGIN.likelihood(Release(release.tables, mechanism))


def test_letters_need_the_inner_table() -> None:
    table = _table(np.ones((2, 2, 2), dtype=np.int64))
    with pytest.raises(ParameterError, match="inner cells"):
        PLUGIN.resolve(table.domain, GIVEN | {"margins": "v*w + w*x"})


def test_text() -> None:
    assert as_text(np.array([0, 9, 10, 3])) == "09a3"
    assert PublishedTable(_table([[1]])).suppressed is None
