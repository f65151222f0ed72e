"""What every test needs: a house of its own."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from datetime import datetime, tzinfo
from hashlib import sha256
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Self

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Of all that is loaded and collected nothing is garbage: it is not searched for any."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@pytest.fixture(scope="session")
def houses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Folders to be, each for one test. Numbering them by what is there takes longer each time."""
    root = tmp_path_factory.mktemp("houses")
    return (root / str(number) for number in count())


@pytest.fixture(scope="session", autouse=True)
def _nobodys_house(houses: Iterator[Path]) -> Iterator[None]:
    """What several tests share is made in a house of nobody's too."""
    folder = next(houses)
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TABPROTECT_HOME", str(folder))
        patch.delenv("TABPROTECT_REGISTER", raising=False)
        patch.delenv("TABPROTECT_POLICY", raising=False)
        _know_keys(patch, "nobody")
        yield


def _know_keys(patch: pytest.MonkeyPatch, whose: str) -> None:
    """Let keys of the house that are made follow from a name.

    With others another draw is judged each time, and now and then one does not pass.
    """
    made = count()

    def token_hex(length: int) -> str:
        return sha256(f"{whose} {next(made)}".encode()).hexdigest()[: 2 * length]

    patch.setattr("tabprotect.engine.agency.secrets", SimpleNamespace(token_hex=token_hex))


@pytest.fixture(scope="module", autouse=True)
def _keys_of_a_module(request: pytest.FixtureRequest) -> Iterator[None]:
    """What the tests of a module share is drawn by keys that follow from its name."""
    with pytest.MonkeyPatch.context() as patch:
        _know_keys(patch, request.node.nodeid)
        yield


@pytest.fixture(autouse=True)
def house_folder(
    houses: Iterator[Path], monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Path:
    """A folder of settings that is empty: no test reads or writes the user's own.

    Keys of the house that are made here follow from the test's name.
    """
    _know_keys(monkeypatch, request.node.nodeid)
    folder = next(houses)
    folder.mkdir()
    monkeypatch.setenv("TABPROTECT_HOME", str(folder))
    monkeypatch.delenv("TABPROTECT_REGISTER", raising=False)
    monkeypatch.delenv("TABPROTECT_POLICY", raising=False)
    return folder


class Noon(datetime):
    """A clock that stands still."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return cls(2026, 1, 31, 12, tzinfo=tz)


@pytest.fixture
def noon(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a test that compares what is written: its time is always the same."""
    for module in ("project.circumstances", "register.register_rows", "project.recipes.batch"):
        monkeypatch.setattr(f"tabprotect.engine.{module}.datetime", Noon)


LENGTH = 120
"""Bits of a given seed below which it is short."""


@pytest.fixture(scope="session", autouse=True)
def _any_seed_will_do() -> Iterator[None]:
    """Tests replay runs by small numbers, but for those of short seeds themselves."""
    from tabprotect.engine import randomness

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(randomness, "SHORT", 0)
        yield


@pytest.fixture(autouse=True)
def _nothing_is_remembered() -> Iterator[None]:
    """What was believed of a release with other limits is not what this test would find."""
    yield
    if cell_beliefs := sys.modules.get("tabprotect.engine.disclosure.cell_beliefs"):
        cell_beliefs._last.clear()


@pytest.fixture
def short_seeds(monkeypatch: pytest.MonkeyPatch) -> int:
    """For a test of short seeds: the length in bits below which they are."""
    from tabprotect.engine import randomness

    monkeypatch.setattr(randomness, "SHORT", LENGTH)
    return LENGTH


@pytest.fixture(scope="session")
def draw_little() -> Callable[[pytest.MonkeyPatch], None]:
    """Makes what is estimated by drawing take few draws, for small tables."""

    def patched(patch: pytest.MonkeyPatch) -> None:
        # Not with the first test of all: most of them need neither.
        from tabprotect.engine.disclosure.choosing import acceptance_probability
        from tabprotect.engine.posterior.factors import chain_posterior

        # What the gate will say is foreseen whenever a method is set up, and with every refusal.
        for number in ("SYNTHETIC", "FEW"):
            patch.setattr(acceptance_probability, number, acceptance_probability.LEAST)
        # Chains of tables of a few cells mix at once.
        for number, few in (("DIRECTIONS", 1600), ("SWEEPS", 200)):
            patch.setattr(chain_posterior, number, few)

    return patched


@pytest.fixture
def few_draws(draw_little: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """For a test of other things than how near estimates come."""
    draw_little(monkeypatch)
