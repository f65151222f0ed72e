"""The cycle of each step: as listed, in a random order, with replacement, or by the table.

Source: Lenz 2016 (his N_cover is the number of steps).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.errors import InputError
from tabprotect.languages.messages import message

Order = Literal["listed", "random", "replacement", "positive"]

ORDERS: Mapping[Order, str] = {
    "listed": message("The cycles one after the other, as the list has them."),
    "random": (
        message(
            "Every pass in a new random order. The order that was drawn is published: it says "
            "nothing about the table, and the posterior stays as exact as with the list."
        )
    ),
    "replacement": (
        message("Each step takes any of the cycles, which may come again. What was drawn is published.")
    ),
    "positive": (
        message(
            "Each step takes any of the cycles that run through positive cells of the table as it "
            "is then: none is ever blocked. What was drawn depends on the table and stays secret."
        )
    ),
}

SEQUENCE = "sequence"
"""Parameter that discloses a drawn order: the number of each step's cycle, from 0."""

DISCLOSED_ORDERS = ("random", "replacement")


def draw_sequence(generator: np.random.Generator, order: str, *, cycles: int, steps: int) -> Ints:
    """The cycle of each step for an order that does not look at the table, int64 (steps,)."""
    if order == "replacement":
        return generator.integers(cycles, size=steps, dtype=np.int64)
    if order == "listed":
        return np.arange(steps, dtype=np.int64) % cycles
    passes = -(-steps // cycles)
    drawn = np.concatenate([generator.permutation(cycles) for _ in range(passes)])
    return drawn[:steps].astype(np.int64)


def stated_sequence(stated: object, order: str, *, cycles: int, steps: int) -> Ints:
    """A disclosed order, checked against what the mechanism could draw.

    Raises
    ------
    InputError
        When it is missing or is not such an order.
    """
    if not isinstance(stated, Sequence) or any(type(number) is not int for number in stated):
        raise InputError(
            message('the mechanism does not state its "{SEQUENCE}", a list of numbers of cycles', SEQUENCE),
            hint=message("take the mechanism that came with the table"),
        )
    found = np.array(stated, dtype=np.int64)
    if len(found) != steps or (found < 0).any() or (found >= cycles).any():
        raise InputError(
            message(
                'the mechanism\'s "{SEQUENCE}" is not {steps} numbers of cycles from 0 to {cycles}',
                SEQUENCE,
                steps,
                cycles - 1,
            )
        )
    if order == "random":
        for first in range(0, steps, cycles):
            one = found[first : first + cycles]
            if len(np.unique(one)) != len(one):
                raise InputError(
                    message('the mechanism\'s "{SEQUENCE}" takes a cycle twice within one pass', SEQUENCE)
                )
    return found
