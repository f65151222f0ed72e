"""Tables A x B and B x C of the same records are read together, or take a reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

Run = Callable[..., Any]

SEED = 93271650412588301774620951338420667189

AB = np.array([[2, 7, 4], [0, 5, 4], [0, 3, 2]])
BC = np.array([[2, 0, 0], [5, 6, 4], [3, 3, 4]])


@pytest.fixture
def protect(run: Run, tmp_path: Path) -> Run:
    register = tmp_path / "register.sqlite"
    assert run("register", "new", register).code == 0

    def protected(names: str, counts: npt.ArrayLike, method: str, *words: str) -> Any:
        lines = [",".join([*names, "count"])]
        for place, count in np.ndenumerate(np.array(counts)):
            labels = (f"{name.lower()}{k}" for name, k in zip(names, place, strict=True))
            lines.append(",".join([*labels, str(count)]))
        path, number = tmp_path / "t.csv", len(list(tmp_path.glob("*.zip")))
        path.write_text("\n".join(lines))
        out = ("--register", register, "--no-page", "--json", "--out", tmp_path / f"{number}.zip")
        # Other coins for each, and the same ones in every run.
        coins = () if method == "suppression" or "--seed" in words else ("--seed", SEED + number)
        return run("protect", path, "--method", method, *words, *coins, *out)

    return protected


def test_a_total_that_one_hides_and_the_other_keeps(protect: Run) -> None:
    assert protect("AB", AB, "suppression").json["verdict"]["accepted"]
    refused = protect("BC", BC, "cyclic_perturbation", "--kept-small", "keep")
    assert refused.code == 5
    assert "1 for certain" in refused.json["error"]["message"]


RING = {
    "AB": [[30, 40, 50], [60, 70, 80], [35, 45, 55]],
    "BC": [[40, 50, 35], [50, 60, 45], [60, 65, 60]],
    "AC": [[40, 45, 35], [65, 80, 65], [45, 50, 40]],
}


def test_a_ring_takes_no_reason_where_all_that_is_shared_is_stated(protect: Run) -> None:
    assert [protect(names, RING[names], "cyclic_perturbation").code for names in RING] == [0, 0, 0]


def test_a_ring_of_which_no_table_states_a_shared_margin_is_read_by_its_ends(protect: Run) -> None:
    methods = ["cyclic_perturbation", "random_rounding", "random_rounding"]
    *_, last = (protect(names, RING[names], one) for names, one in zip(RING, methods, strict=True))
    assert last.code == 0 and last.json["verdict"]["left_out"] == []


def test_what_left_is_not_read_again_with_what_left_since(protect: Run) -> None:
    coarse, fine = [[27, 26], [29, 25]], [[9, 8, 13], [6, 5, 12], [15, 13, 26]]
    assert protect("AB", coarse, "cyclic_perturbation").code == 0
    assert protect("AB", fine, "cyclic_perturbation").code == 5
    assert protect("AB", fine, "cyclic_perturbation", "--again", "asked for").code == 0
    assert protect("AB", coarse, "cyclic_perturbation", "--seed", SEED).code == 0


def test_noise_on_both_is_read_together(protect: Run) -> None:
    assert protect("AB", AB, "random_rounding", "--accept", "a trial").code == 0
    found = protect("BC", BC, "random_rounding")
    assert found.code == 0 and found.json["verdict"]["left_out"] == []
    assert found.json["together"]["releases"] == 2


def test_groups_of_all_categories_take_a_reason(protect: Run) -> None:
    assert protect("AB", [[27, 26], [29, 25]], "cyclic_perturbation").code == 0
    # No margin is the same; categories of both variables may be groups of these.
    assert protect("AB", [[9, 8, 13], [6, 5, 12], [15, 13, 26]], "cyclic_perturbation").code == 5
    # The total is the same, and no groups are.
    assert protect("AB", [[14, 13, 12], [23, 23, 22]], "cyclic_perturbation").code == 0


def test_the_same_seed_on_changed_data_takes_a_reason(protect: Run) -> None:
    # Steps that are the same for both would leave the exact difference of the counts.
    later = AB + 4
    later[0, 0] += 13
    later[2, 2] += 12
    later[1, 1] += 15
    coins = ("cyclic_perturbation", "--seed", SEED)
    assert protect("AB", AB + 4, *coins).code == 0
    assert protect("AB", AB + 4, *coins).code == 0
    refused = protect("AB", later, *coins)
    assert refused.code == 5
    assert "the given seed was used before" in refused.json["error"]["message"]
    assert protect("AB", later, *coins, "--again", "asked for").code == 0
