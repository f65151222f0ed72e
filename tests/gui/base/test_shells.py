"""One posterior: library, command line, window and verdict say the same of a bundle, to the byte."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

import tabprotect as tp
from tabprotect.cli.main import main
from tabprotect.cli.reader.verify import NOT_WHOLE
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.effort import VERDICT
from tabprotect.engine.belief.evidence import RELEASE_ALONE, OfRelease
from tabprotect.engine.bundle import public
from tabprotect.engine.disclosure import gate
from tabprotect.engine.disclosure.counts_verdict import posterior_figures
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.project.verbs.publish_verbs import open_bundle
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.gui.base.document import Document

SQUARE = [[15, 1, 3, 1], [20, 10, 10, 15], [3, 10, 10, 2], [12, 14, 7, 2]]

BUNDLES: dict[str, tuple[list[list[int]], str, Mapping[str, object]]] = {
    "cycles": (SQUARE, "cyclic_perturbation", {}),
    # What the choice of the pattern tells is weighed: every original that fits is protected again.
    "suppression": ([[5, 1, 9], [7, 8, 2], [6, 4, 12]], "suppression", {"level": 3}),
    "small": ([[5, 3], [4, 6]], "cyclic_perturbation", {}),
    "keys": (SQUARE, "cell_key", {}),
}


def released(name: str, seed: int = 7) -> Release:
    """A release as the gate lets it out; where nothing passes, by decision."""
    counts, method, given = BUNDLES[name]
    problem = Problem(Table.dense(Domain.of_shape((len(counts), len(counts[0]))), counts))
    accept = "" if name in ("cycles", "small") else "a test"
    done = gate.protect(methods()[method], problem, given, Randomness.seeded(seed), accept=accept)
    return done.release


def written(release: Release, folder: Path, name: str) -> Path:
    path = folder / f"{name}.zip"
    public.write(release, path)
    return path


def printed(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> str:
    assert main([str(word) for word in words]) == code
    return capsys.readouterr().out


@pytest.mark.parametrize("name", BUNDLES)
def test_every_shell_says_the_same(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], qtbot: QtBot
) -> None:
    path = written(released(name), tmp_path, name)
    belief = tp.infer(path)
    text = belief.to_json()
    # The noise of several tables is put together by chains.
    assert json.loads(text)["way"] == ("monte_carlo" if name == "keys" else "exact")
    assert printed(capsys, "infer", path, "--json") == text
    document = Document()
    try:
        document.do(open_bundle, path=str(path))
        qtbot.waitUntil(lambda: document.release is not None)
        document.posterior()
        qtbot.waitUntil(lambda: document.known_belief() is not None)
        found = document.known_belief()
        assert found is not None
        assert "".join(found.json_pieces()) == text
        assert found.left_out == belief.left_out
    finally:
        document.close()
    assert ("draws were allowed" in belief.left_out) == (name in ("cycles", "small", "keys", "suppression"))


@pytest.mark.parametrize("name", BUNDLES)
def test_the_verdict_is_about_the_same_posterior(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    release = public.read(written(released(name), tmp_path, name))
    limits = release.mechanism.gate
    assert limits is not None
    found = believe([release], knowing=RELEASE_ALONE, effort=VERDICT, randomness=OfRelease(release)).posterior
    expected = posterior_figures(found, limits.at_risk, limits.belief_limit)
    own = replace(verdict(release), reason=limits.reason)
    code = 0 if own.complete else NOT_WHOLE
    path = tmp_path / f"{name}.zip"
    judged = json.loads(printed(capsys, "verify", path, "--json", code=code))["verdict"]
    assert judged == json.loads(json.dumps(own.as_json()))
    (inner,) = (one for one in own.tables if one.who == "user" and one.inner)
    # What several tables say together is the second opinion's.
    if (
        not methods()[release.mechanism.method].publishes_true_counts(release)
        and "joint_noise" not in found.left_out
    ):
        figures = (inner.at_risk, inner.known, inner.certain)
        assert figures == (expected.at_risk, expected.known, expected.certain)


def test_releases_together_and_one_draw_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = (written(released("small", seed), tmp_path, f"{seed}") for seed in (7, 8))
    belief = tp.infer([first, second])
    assert printed(capsys, "infer", first, second, "--json") == belief.to_json()
    assert belief.to_json() != tp.infer(first).to_json()
    again = tmp_path / "again.zip"
    again.write_bytes(first.read_bytes())
    twice = tp.infer([first, again])
    assert printed(capsys, "infer", first, again, "--json") == twice.to_json()
    assert (twice.posterior.chances == tp.infer(first).posterior.chances).all()
    assert "the same draw as another" in twice.left_out
