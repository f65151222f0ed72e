"""What the page says of counts taken as true is what was measured."""

from __future__ import annotations

import re

import numpy as np

from tabprotect.engine.bundle import public
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table


def test_every_method_says_it_in_two_languages() -> None:
    table = Table.dense(Domain.of_shape((3, 4)), np.arange(12).reshape(3, 4) % 5 + 1)
    said = set()
    for name, given in (
        ("random_rounding", {}),
        ("bootstrap", {}),
        ("publish_margins", {"margins": "A + B"}),
    ):
        release = methods()[name].run(Problem(table), given, Randomness.seeded(3)).release
        text = public.page_of(release).decode()
        english, german = re.findall(r'"naive":"([^"]*)"', text)
        assert german != english and "{" not in english + german
        said.add(english)
    assert len(said) == 3
