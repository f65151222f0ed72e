"""Work side by side: the same results on any number of cores, errors and cancelling included."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest

from tabprotect.engine.errors import InputError, Interrupted, ParameterError
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.moves import sampling
from tabprotect.engine.posterior.moves.signature_model import group_model
from tabprotect.engine.posterior.prior import Uniform
from tabprotect.engine.progress import SILENT, Cancellable, Progress
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import ExchangeSteps, MoveSequence
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.workers import threads


def released(shape: tuple[int, ...], **given: object) -> Release:
    counts = np.random.default_rng(5).poisson(1.4, shape)
    problem = Problem(Table.dense(Domain.of_shape(shape), counts))
    return methods()["cyclic_perturbation"].run(problem, given, Randomness.seeded(4)).release


@pytest.mark.parametrize("number", [1, 2, 3])
def test_results_are_in_the_order_of_the_pieces(number: int) -> None:
    made: list[int] = []

    def pieces() -> Iterator[int]:
        for k in range(7):
            made.append(k)
            yield k

    def squared(k: int, progress: Progress = SILENT) -> int:
        progress.report("squaring", 0.5)
        return k * k

    with threads.at_most(number):
        assert threads.allowed() == number
        assert threads.side_by_side(squared, range(7), SILENT) == [k * k for k in range(7)]
        assert list(threads.meanwhile(squared, pieces())) == [k * k for k in range(7)]
    assert made == list(range(7)) and threads.allowed() == threads.cores()


def test_a_piece_is_made_while_the_one_before_it_is_worked_on() -> None:
    """The first piece is not done before the third is asked for; the buffer of the first is free then."""
    begun, done = threading.Event(), list[int]()

    def pieces() -> Iterator[int]:
        yield 0
        yield 1
        assert begun.wait(10) and done[:1] == [0]
        yield 2

    def work(k: int) -> int:
        begun.set()
        done.append(k)
        return k

    with threads.at_most(2):
        assert list(threads.meanwhile(work, pieces())) == [0, 1, 2]


@pytest.mark.parametrize("number", [1, 3])
def test_errors_and_cancelling_end_all(number: int) -> None:
    def fails(k: int, progress: Progress) -> None:
        while number > 1 and k == 0:
            progress.report("waiting for the others", 0.0)
        if k:
            raise InputError("broken")

    with threads.at_most(number):
        with pytest.raises(InputError, match="broken"):
            threads.side_by_side(fails, range(3), SILENT)
        watched = Cancellable()
        watched.cancel()
        with pytest.raises(Interrupted):
            threads.side_by_side(lambda k, progress: progress.report("on", 0.0), range(3), watched)
    for text in ("0", "x", "tcp://host:1"):
        with pytest.raises(ParameterError, match="from 1 up"):
            threads.parse_threads(text)


def test_beliefs_and_draws_are_the_same_on_any_number_of_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "AT_ONCE", 64)
    strips = likelihood_of(released((8, 60), cycles="strips", height=2, blocking="negative"))
    exchange = likelihood_of(released((4, 5, 6), blocking="exchange"))
    assert isinstance(strips, MoveSequence) and isinstance(exchange, ExchangeSteps)
    walk = sampling.BackwardWalk(group_model(strips, Uniform()))
    found = []
    for number in (1, 3):
        with threads.at_most(number):
            laws = infer(strips).chances
            drawn = sampling.draw(walk, 30, Randomness.seeded(2).generator())
            plan, counts = exchange.plan, exchange.published.counts.reshape(-1)
            monkeypatch.setattr("tabprotect.engine.swaps.exchange_plan.AT_ONCE", 1)
            tables = plan.tables(counts, 20, Randomness.seeded(3).generator())
            found.append((laws.tobytes(), drawn.tobytes(), tables.tobytes()))
    assert found[0] == found[1] and len(set(found[0])) == 3
