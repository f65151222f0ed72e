"""What is said of a design beside the other parameters of cyclic perturbation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.bundle import public
from tabprotect.engine.cycles.designs import design
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.project.history import History
from tabprotect.engine.protection.methods.cyclic_perturbation import PLUGIN
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table

SHAPE = (6, 5)


def original() -> Table:
    counts = np.random.default_rng(3).poisson(3.0, SHAPE).astype(np.int64)
    counts[2, 3] = 0
    return Table.dense(Domain.of_shape(SHAPE, ["sex", "work"]), counts)


def cycles(**given: object) -> MoveSet:
    found: MoveSet = PLUGIN.resolve_for(Problem(original()), given)["cycles"]  # type: ignore[assignment]
    return found


def test_what_is_said_of_a_design_takes_it() -> None:
    domain = original().domain
    assert cycles(height=3) == design(domain, "strips-3")
    assert cycles(cycles="strips", height=3) == cycles(height=3)
    assert cycles(height=3, repeats=2) == design(domain, "strips-3", {"repeats": 2})
    assert cycles(cycles="elementary", repeats=3) == design(domain, "elementary", {"repeats": 3})
    plain = cycles(cycles="triangular")
    assert cycles(cap=4, **{"lambda": 4}) == plain
    assert cycles(cap=1) != plain and len(cycles(cap=1)) == len(plain) == 20
    assert cycles(design_theta=0.01) != plain


def test_the_mechanism_says_it_and_a_reader_designs_the_same() -> None:
    given: dict[str, object] = {"cap": 2, "lambda": 1.5, "repeats": 2, "blocking": "negative"}
    release = PLUGIN.run(Problem(original()), given, Randomness.seeded(1)).release
    stated = release.mechanism.parameters
    assert {name: stated[name] for name in given} == given
    assert "height" not in stated and "zeros" not in stated
    again = PLUGIN.resolve_for(Problem(release.table), given)
    assert again["cycles"] == stated["cycles"]
    # What is stated is read as it stands, and repeated no second time.
    assert len(likelihood_of(release).moves) == 40  # type: ignore[union-attr]


def test_structural_zeros_are_stated_and_their_file_is_not(tmp_path: Path) -> None:
    table = original()
    path = tmp_path / "zeros.csv"
    path.write_text(f'sex;work\n"{table.domain["sex"].categories[2]}";x4\n'.replace("x4", "w4"))
    domain = Domain.of({"sex": table.domain["sex"].categories, "work": [f"w{i}" for i in range(1, 6)]})
    table = Table.dense(domain, table.counts)
    values = PLUGIN.resolve_for(Problem(table), {"zeros": str(path)})
    assert values["zeros"] == f"sex,work\n{domain['sex'].categories[2]},w4\n"
    plus, minus = values["cycles"].touches  # type: ignore[attr-defined]
    assert (plus + minus).reshape(SHAPE)[2, 3] == 0 and len(values["cycles"]) == 19  # type: ignore[arg-type]
    release = PLUGIN.run(Problem(table), {"zeros": str(path)}, Randomness.seeded(1)).release
    assert not any(str(tmp_path).encode() in data for data in public.files(release).values())
    likelihood_of(release)
    path.write_text("work\nw1\n")
    with pytest.raises(ParameterError, match="is said to be empty and is not"):
        PLUGIN.resolve_for(Problem(table), {"zeros": str(path)})
    path.write_text("work\nw9\n")
    with pytest.raises(ParameterError, match="zeros"):
        PLUGIN.resolve(table.domain, {"zeros": str(path)})


@pytest.mark.parametrize(
    "given",
    [
        {"cycles": "elementary", "cap": 3},
        {"cycles": "triangular", "height": 3},
        {"cap": 3, "height": 3},
        {"cycles": "strips-3", "height": 2},
        {"cap": 0},
        {"lambda": -1},
    ],
)
def test_what_says_nothing_of_the_design_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        PLUGIN.resolve_for(Problem(original()), given)


def test_chosen_cycles_are_designed_anew_when_something_else_is_said() -> None:
    history = History().apply("open_table", {"source": "example:sparse-10x10"})[0]

    def after(verb: str, **given: object) -> MoveSet:
        nonlocal history
        history = history.apply(verb, given)[0]
        assert history.project.moves is not None
        return history.project.moves

    plain = after("set_cycles", kind="triangular")
    tighter = after("set_parameters", cap=2)
    assert tighter != plain and len(tighter) == 81
    assert len(after("set_parameters", repeats=2)) == 162
    with pytest.raises(ParameterError, match="says nothing of 'elementary'"):
        history.apply("set_cycles", {"kind": "elementary"})
    assert len(after("set_parameters", cap=None, repeats=None)) == 81
    # A list of its own: nothing said of a design holds of it; it can be repeated.
    drawn = after("remove_cycle", cycle=0)
    assert after("set_parameters", repeats=3) == drawn.take(np.repeat(np.arange(80), 3))
    assert after("set_parameters", repeats=2) == drawn.take(np.repeat(np.arange(80), 2))
    assert len(after("remove_cycle", cycle=0)) == 159
    assert "repeats" not in history.project.parameters
