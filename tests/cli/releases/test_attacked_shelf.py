"""Triples of all, a part and the rest by the command line: no small count is certain that left without a reason.

``TABPROTECT_TRIPLES=100`` attacks as many random triples by each method: 12 of each in half an hour.
"""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "oracles"))

from attacked_shelf import Shelf

from tabprotect.engine.protection.registered import methods

TRIPLES = int(os.environ.get("TABPROTECT_TRIPLES", "0"))

ORDERS = list(itertools.permutations([(0,), (1,), (0, 1)]))


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], Path]:
    """A house whose key, and so its coins, follows from a number."""

    def made(number: int) -> Path:
        folder = tmp_path / str(number)
        folder.mkdir()
        key = folder / "house.key"
        key.write_text(sha256(str(number).encode()).hexdigest() + "\n")
        key.chmod(0o600)
        monkeypatch.setenv("TABPROTECT_HOME", str(folder))
        return folder

    return made


def attacked(people: np.ndarray, order: Sequence[tuple[int, ...]], method: str, folder: Path) -> Shelf:
    shelf = Shelf(people, folder)
    for strata in order:
        assert shelf.ask(strata, method)["code"] in (0, 3, 5)
    assert [one for one in shelf.known() if not one[2]] == []
    return shelf


@pytest.mark.skipif(not TRIPLES, reason="a long run: TABPROTECT_TRIPLES says how many")
@pytest.mark.parametrize("method", sorted(set(methods()) - {"record_swapping", "publish_margins"}))
def test_no_small_count_follows_from_random_triples(method: str, house: Callable[[int], Path]) -> None:
    for number in range(TRIPLES):
        generator = np.random.default_rng(number)
        counts = generator.gamma(1.0, 3.0, (1, 3, 3)) * generator.uniform(0.3, 1.2, (2, 1, 1))
        order = ORDERS[int(generator.integers(len(ORDERS)))]
        attacked(generator.poisson(counts, (2, 3, 3)), order, method, house(number))
