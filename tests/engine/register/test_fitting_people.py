"""Compiled steps over the people of several releases: number for number those in numpy."""

from __future__ import annotations

import numpy as np
import people_steps_in_numpy
import pytest

from tabprotect.engine.progress import SILENT
from tabprotect.engine.register.people.fitting import fitting_people
from tabprotect.engine.register.people.fitting.fitting_people import FittingPeople
from tabprotect.engine.register.people.parts_of_whole import Whole
from tests.engine.register.test_parts_of_whole import counted, released


@pytest.mark.parametrize("of_whole", ["cyclic_perturbation", "cell_key"])
def test_compiled_steps_are_those_in_numpy(monkeypatch: pytest.MonkeyPatch, of_whole: str) -> None:
    asked: list[FittingPeople] = []
    walk = FittingPeople.draws

    def noted(self: FittingPeople, *given: object) -> object:
        asked.append(self)
        return walk(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(FittingPeople, "draws", noted)
    how = {"cyclic_perturbation": {"blocking": "negative"}, "cell_key": {"keys": "hashed"}}
    other = "cell_key" if of_whole == "cyclic_perturbation" else "cyclic_perturbation"
    part = np.array([[4, 1], [2, 5]])
    whole = released(part + np.array([[1, 0], [0, 0]]), of_whole, 3, **how[of_whole])
    Whole(counted(whole), (counted(released(part, other, 4, **how[other])),)).by_fitting()
    monkeypatch.setattr(fitting_people, "ROUNDS", 12)
    monkeypatch.setattr(fitting_people, "FINDING", 4)
    found = []
    for form in (fitting_people.people_steps, people_steps_in_numpy):
        monkeypatch.setattr(fitting_people, "people_steps", form)
        fits = walk(asked[0], np.random.default_rng(5), SILENT)
        found.append((fits.people, fits.chain, fits.places))
    assert len(found[0][0]) > 0
    for compiled, in_numpy in zip(*found, strict=True):
        assert np.array_equal(compiled, in_numpy)
