"""Rounding by open book against its enumerated law, and against independently computed posteriors."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.published_margins import main_first
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.protection.rounding.open_rounding import OpenBook
from tabprotect.engine.protection.subtables import publication_of
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import CellFactors
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

CASES = json.loads((Path(__file__).parents[3] / "reference" / "openbook.json").read_text())["rounding_open"]
NAMES = {"scr": "small_count_rounding", "cr": "controlled_rounding"}


def as_published(case: dict[str, Any]) -> Release:
    """The release of a reference case."""
    shape = np.array(case["table"]).shape
    domain, name = Domain.of_shape(shape), NAMES[case["kind"]]
    given_ = {"base": case["base"], "gamma": case["gamma"], "choice": "open", "least": 1}
    values = methods()[name].resolve(domain, given_)
    inner = Table.dense(domain, np.array(case["published"]).reshape(shape))
    tables = main_first(publication_of(domain, values).sums(inner), domain)
    drawn = {"letters": case["letters"], "drawn_totals": case["drawn_totals"]}
    return Release(tables, Mechanism(name, domain, dict(values) | drawn))


@pytest.mark.parametrize("case", CASES)
def test_posteriors_are_those_computed_independently(case: dict[str, Any]) -> None:
    found = infer(likelihood_of(as_published(case)))
    assert found.way == "exact" and found.count_originals() == case["originals"]
    for count in range(20):
        believed = found.probability(count).reshape(-1)
        expected = [law.get(str(count), 0.0) for law in case["posterior"]]
        assert believed == pytest.approx(expected, abs=1e-9)


class Scripted(np.random.Generator):
    """Gives the numbers that it is told, one array after the other."""

    def __init__(self, chances: npt.NDArray[np.float64], numbers: list[npt.NDArray[np.int64]]) -> None:
        super().__init__(np.random.PCG64(0))
        self._chances, self._numbers = chances, list(numbers)

    def random(self, *_: Any, **__: Any) -> Any:  # type: ignore[override]
        return self._chances

    def integers(self, *_: Any, **__: Any) -> Any:  # type: ignore[override]
        return self._numbers.pop(0)


Law = dict[tuple[object, ...], float]


def law_of(book: OpenBook, table: Table) -> Law:
    """The chance of every release of an original, over all random numbers."""
    domain, base, gamma = table.domain, book.base, book.gamma
    cells, totals = domain.size, len(book.drawn)
    found: Law = defaultdict(float)
    for either in product((0.0, 1.0), repeat=cells):
        share = np.prod([gamma if one == 0.0 else 1 - gamma for one in either])
        for up in product(range(base), repeat=cells):
            for drawn in product(range(base), repeat=totals):
                script = Scripted(np.array(either), [np.array(up), np.array(drawn, dtype=np.int64)])
                tables, said = book.draw(table, script)
                inner = next(t for t in tables if t.domain == domain)
                key = (inner.counts.tobytes(), said["letters"], *said["drawn_totals"])  # type: ignore[misc]
                found[key] += float(share) / base ** (cells + totals)
    return found


def weighed(factors: CellFactors, table: Table) -> float:
    """P(release | original) by the factors."""
    flat, log = table.counts.reshape(-1), 0.0
    for f in range(factors.factors):
        kind = factors.kind[f]
        total = int(flat[factors.cells[factors.starts[f] : factors.starts[f + 1]]].sum())
        if not factors.low[kind] <= total <= factors.high[kind]:
            return 0.0
        log += factors.logs[factors.log_starts[kind] + total - factors.low[kind]]
    return float(np.exp(log))


def worst_error(
    name: str,
    shape: tuple[int, ...],
    base: int,
    margins: str,
    highest: int,
    book: type[OpenBook],
    number: int = 30,
) -> float:
    """How far the factors are from the enumerated law, over originals and their releases."""
    domain, method = Domain.of_shape(shape), methods()[name]
    values = method.resolve(
        domain, {"base": base, "margins": margins, "choice": "open", "gamma": 0.3, "least": 1}
    )
    most = None if name == "controlled_rounding" else base - 1
    made = book.of(domain, values, base, most)
    cells = list(product(range(highest + 1), repeat=domain.size))
    chosen = np.random.default_rng(3).permutation(len(cells))[:number]
    originals = [Table.dense(domain, np.array(cells[k]).reshape(shape)) for k in chosen]
    laws = [law_of(made, table) for table in originals]
    worst = 0.0
    for release in set().union(*laws):
        stated = {"letters": release[1], "drawn_totals": list(release[2:])}
        inner = Table.dense(domain, np.frombuffer(release[0], dtype=np.int64).reshape(shape))  # type: ignore[call-overload]
        tables = main_first(publication_of(domain, values).sums(inner), domain)
        factors = likelihood_of(Release(tables, Mechanism(name, domain, dict(values) | stated)))
        assert isinstance(factors, CellFactors)
        true = np.array([law.get(release, 0.0) for law in laws])
        told = np.array([weighed(factors, table) for table in originals])
        if told.sum() == 0:
            return 1.0
        worst = max(worst, float(np.abs(true / true.sum() - told / told.sum()).max()))
    return worst


@pytest.mark.parametrize("name", NAMES.values())
@pytest.mark.parametrize(("shape", "base", "margins", "highest"), [((2,), 3, "A", 5), ((3,), 2, "A", 3)])
def test_the_product_is_the_law_up_to_what_no_count_enters(
    name: str, shape: tuple[int, ...], base: int, margins: str, highest: int
) -> None:
    assert worst_error(name, shape, base, margins, highest, OpenBook) < 1e-13


def test_any_other_way_to_settle_gives_the_same_beliefs() -> None:
    class Otherwise(OpenBook):
        def settled(self, letters: Any, totals: Any, progress: Any = None) -> Any:
            down, either = letters
            up = (down.sum() + totals.sum() + np.arange(len(down))) % 3 == 0
            return down + self.base * (either & up)

    assert worst_error("controlled_rounding", (3,), 2, "A", 3, Otherwise) < 1e-13
    # Cells in two totals each.
    assert worst_error("small_count_rounding", (2, 2), 2, "A:B + A", 2, Otherwise, number=8) < 1e-13


def test_a_letter_that_looks_at_its_neighbour_is_found() -> None:
    class Looking(OpenBook):
        def letters(self, counts: Any, generator: Any) -> Any:
            down, either = super().letters(counts, generator)
            return down, either & (np.roll(counts, 1) > 0)

    assert worst_error("controlled_rounding", (3,), 2, "A", 3, Looking) > 0.01


def test_settling_that_looks_at_a_count_is_found() -> None:
    class Looking(OpenBook):
        def draw(self, table: Table, generator: Any, progress: Any = None) -> Any:
            tables, said = super().draw(table, generator)
            # Up wherever the count is nearer to the multiple above.
            inner = tables[0].counts.copy()
            near = table.counts % self.base * 2 > self.base
            open_ = np.array([letter != "f" for letter in said["letters"]])  # type: ignore[attr-defined]
            floor = table.counts - table.counts % self.base
            inner = np.where(open_, floor + self.base * near, inner)
            word = np.where(open_, np.where(near, "E", "e"), "f")
            return (Table.dense(table.domain, inner),), said | {"letters": "".join(word)}

    assert worst_error("controlled_rounding", (2,), 3, "A", 5, Looking) > 0.01


@pytest.mark.parametrize("name", list(NAMES.values()))
def test_a_reader_settles_again(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What looks at the original settles otherwise than the published letters and totals do."""
    method = methods()[name]
    table = Table.dense(Domain.of_shape((4, 5)), np.random.default_rng(3).poisson(3, (4, 5)))

    def made() -> Release:
        return method.run(Problem(table), {"gamma": 0.8}, Randomness.seeded(4)).release

    assert method.made_again(made())
    assert (
        method.made_again(method.run(Problem(table), {"choice": "nearest"}, Randomness.fresh()).release)
        is None
    )
    book = vars(OpenBook)["settled"]

    def looking(self: OpenBook, letters: Any, totals: Any, progress: Any = None) -> Any:
        found = book(self, letters, totals)
        nearer = table.counts.reshape(-1) % self.base * 2 > self.base
        return np.where(letters[1], letters[0] + self.base * nearer, found)

    with monkeypatch.context() as planted:
        planted.setattr(OpenBook, "settled", looking)
        faulty = made()
    assert method.made_again(faulty) is False


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(list(NAMES.values())),
    shape=st.sampled_from([(5,), (2, 3), (4, 4), (2, 3, 2), (1, 4)]),
    base=st.integers(2, 6),
    margins=st.sampled_from(["", "A", "A:1"]),
    grouped=st.booleans(),
    extra=st.integers(0, 4),
    seed=st.integers(0, 2**32),
)
def test_every_promise_holds(
    name: str, shape: tuple[int, ...], base: int, margins: str, grouped: bool, extra: int, seed: int
) -> None:
    domain, generator = Domain.of_shape(shape), np.random.default_rng(seed)
    given_: dict[str, object] = {
        "base": base,
        "choice": "open",
        "margins": "" if margins == "A:1" else margins,
    }
    if grouped and shape[0] > 1:
        codes = [f"a{k + 1}>{'pq'[k % 2]}" for k in range(shape[0])]
        rest = "*".join(domain.names[1:])
        given_ |= {"groupings": f"G:A={','.join(codes)}", "margins": f"(A + G) * {rest}" if rest else "A + G"}
    most = base - 1 + extra
    if name == "small_count_rounding":
        given_["max_round"] = most
    table = Table.dense(domain, generator.poisson(generator.choice([0.7, 3.0]), size=shape))
    done = methods()[name].run(Problem(table), given_, Randomness.seeded(seed))
    main = done.release.table
    true = table.margin(main.domain.names).counts if main.domain != domain else table.counts
    moved = main.counts - true
    assert (np.abs(moved) < base).all() and not moved[true == 0].any()
    if name == "small_count_rounding":
        assert not moved[true > most].any()
    factors = likelihood_of(done.release)
    assert isinstance(factors, CellFactors) and weighed(factors, table) > 0 and factors.left_out == ()


def test_few_counts_behind_a_total_do_not_draw_it() -> None:
    method = methods()["small_count_rounding"]
    three, two = Domain.of_shape((3, 3, 3)), Domain.of_shape((3, 3))
    assert (method.resolve(three, {})["least"], method.resolve(two, {})["least"]) == (13, 3)
    stated = method.run(
        Problem(Table.dense(Domain.of_shape((2, 4)), np.ones((2, 4)))), {}, Randomness.seeded(1)
    )
    # Two rows and the grand total: a column is two counts.
    assert len(stated.release.mechanism.parameters["drawn_totals"]) == 3  # type: ignore[arg-type]
    table = Table.dense(three, np.random.default_rng(2).poisson(1.0, (3, 3, 3)))
    stated = method.run(Problem(table), {}, Randomness.seeded(1)).release.mechanism.parameters
    # Of 27 counts only the grand total has 13 or more.
    assert len(stated["drawn_totals"]) == 1  # type: ignore[arg-type]
    every = method.run(Problem(table), {"least": 1}, Randomness.seeded(1)).release.mechanism.parameters
    assert len(every["drawn_totals"]) == 64 - 27  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NAMES.values())
def test_what_belongs_to_another_choice_is_refused_by_name(name: str) -> None:
    domain, method = Domain.of_shape((3, 3)), methods()[name]
    for wrong in ({"gamma": 0.5}, {"least": 2}):
        with pytest.raises(ParameterError, match="another choice than nearest"):
            method.resolve(domain, {"choice": "nearest"} | wrong)
    with pytest.raises(ParameterError, match="one table from which all others follow"):
        method.resolve(domain, {"choice": "open", "margins": "A + B"})
    assert method.resolve(domain, {"margins": "A + B"})["choice"] == "nearest"
    assert method.resolve(domain, {})["choice"] == "open"


def test_what_the_programme_of_nearest_takes_is_refused_beside_open() -> None:
    domain, method = Domain.of_shape((3, 3)), methods()["small_count_rounding"]
    for name, value in (("force_inner", True), ("zero_candidates", True), ("step", 2)):
        with pytest.raises(ParameterError, match="another choice than open"):
            method.resolve(domain, {"choice": "open", name: value})
        assert method.resolve(domain, {name: value})["choice"] == "nearest"


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ({"letters": "fff"}, "for every count"),
        ({"letters": "fffx"}, "for every count"),
        ({"letters": None}, "for every count"),
        ({"drawn_totals": [9, 6, 3, 3]}, "for every total"),
        ({"drawn_totals": [9, 6, 3, 3, 4]}, "for every total"),
        ({"drawn_totals": [9, 6, 3, 3, True]}, "for every total"),
        ({"letters": "fEff"}, "is rounded to 5"),
    ],
)
def test_a_mechanism_that_states_another_draw_is_refused(stated: dict[str, object], said: str) -> None:
    release = as_published(CASES[0])
    mechanism = release.mechanism
    changed = Mechanism(mechanism.method, mechanism.domain, dict(mechanism.parameters) | stated)
    with pytest.raises(InputError, match=said):
        likelihood_of(Release(release.tables, changed))


def test_a_mechanism_from_before_there_was_a_choice_is_the_nearest() -> None:
    domain, method = Domain.of_shape((3, 3)), methods()["small_count_rounding"]
    table = Table.dense(domain, np.random.default_rng(2).poisson(2.0, (3, 3)))
    release = method.run(Problem(table), {"choice": "nearest"}, Randomness.seeded(1)).release
    assert not {"gamma", "least", "letters", "drawn_totals"} & set(release.mechanism.parameters)
    stated = {n: v for n, v in release.mechanism.parameters.items() if n != "choice"}
    before = Release(release.tables, Mechanism(release.mechanism.method, domain, stated))
    coins = Randomness.seeded(1)
    said = (infer(likelihood_of(one), randomness=coins).probability(0) for one in (release, before))
    assert np.array_equal(*said)
    assert method.promised(before.mechanism.values) == method.promised(release.mechanism.values)
