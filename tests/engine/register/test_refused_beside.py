"""What it tells that other settings were refused beside earlier releases: by listing everybody and every refusal."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tabprotect.cli.main import main
from tabprotect.engine.arrays import Ints
from tabprotect.engine.atomic import write_bytes
from tabprotect.engine.belief.evidence import Evidence
from tabprotect.engine.bundle import public
from tabprotect.engine.disclosure.cell_beliefs import TableBelief
from tabprotect.engine.disclosure.counts_verdict import judged_table
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.progress import SILENT
from tabprotect.engine.project.verbs import publish_verbs
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Coins, Randomness
from tabprotect.engine.register.people import refused_beside
from tabprotect.engine.register.people.parts_of_whole import Counted, Whole
from tabprotect.engine.register.people.reading_together import LookedUp, ReadingTogether
from tabprotect.engine.register.people.refused_beside import RefusedBeside
from tabprotect.engine.register.register_entry import BESIDE, RefusedMechanism
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

LIMITS = AgencyPolicy().limits()
DOMAIN = Domain.of_shape((1, 3))


def released(counts: Ints, method: str, seed: int = 1, **chosen: object) -> Release:
    table = Table.dense(DOMAIN, np.asarray(counts).reshape(DOMAIN.shape))
    return methods()[method].run(Problem(table), chosen, Randomness.seeded(seed)).release


def counted(release: Release) -> Counted:
    return Counted.of(Evidence(release), release.domain.names)


def hides(release: Release, cells: list[int]) -> bool:
    """Return True if a release hides all of some cells."""
    return bool(release.tables[0].hidden.reshape(-1)[cells].all())


@dataclass(frozen=True)
class Refusal:
    """A verdict of a gate that refuses what hides some cells."""

    hidden: bool

    def fails(self, _: object) -> bool:
        return self.hidden


class Case:
    """A whole that left, a part of it that is to leave rounded, and blocks that were refused for the part before.

    The gate that refused them does not look at beliefs, but at which cells are hidden.
    """

    def __init__(self, part: list[int], rest: list[int], cells: list[int]) -> None:
        self.cells = cells
        self.of_all = released(np.add(part, rest), "random_rounding", 2)
        self.of_part = released(np.array(part), "random_rounding", 3)
        self.group = Whole(counted(self.of_all), (counted(self.of_part),))
        stated = {p.name for p in methods()["suppression"].parameters if p.public}
        found = released(np.array(part), "suppression", choice="blocks").mechanism
        given = {name: value for name, value in found.parameters.items() if name in stated}
        mechanism = Mechanism(found.method, DOMAIN, given)
        table = Table.dense(DOMAIN, np.array(part).reshape(DOMAIN.shape))
        own = self.group.parts[0].evidence
        self.reading = RefusedBeside(table, own, (mechanism,), LIMITS, SILENT)

    def listed(self) -> tuple[float, list[TableBelief]]:
        """The share of everybody for whom it is refused, and the beliefs of who knows that, by listing."""
        (wholes, of_wholes), (parts, of_parts) = (
            found
            for one in (self.of_all, self.of_part)
            if (found := infer(likelihood_of(one)).list_originals()) is not None
        )
        refused = cache(
            lambda part: hides(released(np.array(part), "suppression", choice="blocks"), self.cells)
        )
        size = int(wholes.max()) + 1
        laws, every, share = np.zeros((3, 3, size)), 0.0, 0.0
        for part, one in zip(parts, of_parts, strict=True):
            rests = wholes - part
            fits = (rests >= 0).all(axis=1)
            every += one * of_wholes[fits].sum()
            if not fits.any() or not refused(tuple(part.tolist())):
                continue
            for whole, rest, other in zip(wholes[fits], rests[fits], of_wholes[fits], strict=True):
                share += one * other
                for law, counts in zip(laws, (whole, part, rest), strict=True):
                    law[np.arange(3), counts] += one * other
        cells = np.arange(3), np.zeros(3, dtype=np.int64)
        known = [TableBelief(DOMAIN, True, None, (*cells, law / max(share, 1e-99)), "exact") for law in laws]
        return share / every, known


@pytest.fixture
def case(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Case:
    made = Case(*request.param)

    def judged(group: Whole, *_: object) -> list[Refusal]:
        return [Refusal(hides(group.parts[0].evidence.release, made.cells))]

    monkeypatch.setattr(refused_beside, "judged_whole", judged)
    return made


TELLING, OFTEN = ([1, 1, 4], [1, 2, 2], [0, 1, 2]), ([2, 4, 1], [3, 3, 3], [0])


@pytest.mark.parametrize("case", [TELLING, OFTEN], indirect=True)
def test_who_knows_of_the_refusals_believes_what_listing_says(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refused_beside, "LOOKS", (120,))
    monkeypatch.setattr(refused_beside, "DOUBT", 1.0)
    found = case.reading.known(case.group)
    share, (whole, part, rest) = case.listed()
    assert found is not None
    (inner, of_whole, *_), error = found
    assert error == pytest.approx(0.5 * (1 / (120 * share) - 1 / 121) ** 0.5, rel=0.2)
    plain, moved = case.group.beliefs(), 0.0
    for value in (1, 2):
        belief = inner.probability(value, np.arange(6)).reshape(3, 2)
        # A whole, a part and the rest, each of three cells.
        for given, listed in (
            (of_whole.probability(value, np.arange(3)), whole),
            *zip(belief.T, (part, rest), strict=True),
        ):
            assert given == pytest.approx(listed.probability(value, np.arange(3)), abs=4 * error)
        moved = max(moved, np.abs(belief.reshape(-1) - plain[0].probability(value, np.arange(6))).max())
    assert moved > 0.02, "the refusal tells something"


@pytest.mark.parametrize(("case", "little"), [(TELLING, False), (OFTEN, True)], indirect=["case"])
def test_what_would_be_known_to_who_knows_of_the_refusals_is_not_let_out(case: Case, little: bool) -> None:
    share, known = case.listed()
    assert case.reading.tells_little([case.group]) == little
    within = not any(judged_table("user", one, LIMITS).fails(LIMITS) for one in known)
    assert within or not little, f"{share:.2f} of all are refused"


@pytest.mark.parametrize("case", [OFTEN], indirect=True)
def test_a_mechanism_that_is_not_known_is_not_weighed(case: Case) -> None:
    unknown = replace(case.reading, refused=(*case.reading.refused, None))
    assert case.reading.tells_little([case.group]) and not unknown.tells_little([case.group])


HEX = "4ecc402210fae920677a0dcc8aacd07f7c640c97decbfb99d3eb50b6b0295807"


def test_what_was_refused_while_nobody_had_answered_leaves_unchanged_once_others_are_counted(
    tmp_path: Path, house_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who sees the release does not see whether the house was asked: it hides what it would have hidden unasked."""
    monkeypatch.setattr(publish_verbs, "_say_ways", lambda *_: None)
    tables = {"all": [[5, 3, 12], [13, 18, 8], [10, 14, 8]], "men": [[0, 0, 9], [2, 17, 0], [3, 0, 8]]}
    # A key by whose coins it is asked who is counted.
    write_bytes(house_folder / "house.key", HEX.encode(), private=True)
    for name, counts in tables.items():
        lines = [f"r{r},c{c},{counts[r][c]}" for r in range(3) for c in range(3)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["r,c,count", *lines]))

    def protect(name: str, *words: str) -> tuple[int, dict[str, object]]:
        out = ["--no-page", "--out", str(tmp_path / f"{name}.zip"), "--json"]
        code = main(["protect", str(tmp_path / f"{name}.csv"), "--method", "suppression", *out, *words])
        return code, json.loads(capsys.readouterr().out)

    assert protect("all")[0] == 0
    code, said = protect("men")
    assert code == 5 and "counted in no. 1" in str(said)
    code, _ = protect("men", "--people", "other:1")
    assert code == 0
    stated = public.read(tmp_path / "men.zip").mechanism.parameters
    assert stated["also"], "what no. 1 hides is hidden, too"


@pytest.mark.parametrize(("coins", "weighed"), [("house", 0), ("fresh", 1)])
def test_a_refused_draw_is_weighed_unless_it_is_the_one_at_hand(coins: Coins, weighed: int) -> None:
    """By the coins of the house it is the same draw; of fresh coins it was another one, by equal settings."""
    table = Table.dense(DOMAIN, np.array([[2, 4, 1]]))
    chance = replace(Randomness.seeded(1), coins=coins)
    release = methods()["random_rounding"].run(Problem(table), {}, chance).release
    stated = {p.name for p in methods()["random_rounding"].parameters if p.public}
    given = {name: value for name, value in release.mechanism.parameters.items() if name in stated}
    refused = Mechanism("random_rounding", DOMAIN, given, coins=None if coins == "house" else coins)
    if coins == "fresh":
        refused = replace(refused, nonce="00" * 16)
    text = refused.to_text(categories=True)
    looked_up = LookedUp(refused={"digest": RefusedMechanism(BESIDE + "random_rounding", text)})
    reading = ReadingTogether(Problem(table), release, None, looked_up)
    assert len(reading._refused_beside(Evidence(release))) == weighed
