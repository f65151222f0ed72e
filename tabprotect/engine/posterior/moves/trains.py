"""The posterior of one strip of swaps of any height in one pass: messages as tensor trains.

The message over a column of swaps is held as a train of cores, one for each swap, whose ranks do not grow
with the height. Every split leaves out what is below a tolerance, and what is left out is added up.

Where each step is a law and nothing else weighs (negative with alpha = beta under a uniform prior), every chance is off by at most E / (1 - E), E the sum over all splits of d / sigma: d is the
norm of what was left out, sigma the sum of what is kept. For a step never increases the sum of absolute
values of what it is applied to, so what is left out adds up; and as the squares of the roots by which
messages are weighed sum to 1, that sum is at most the norm (Cauchy, Schwarz). Beyond a bond of rank 1 a part
is a law by itself, up to its sign and E, and its sum stands for its norm. Elsewhere the error is 2 E to first
order, with d of both messages over the cosine between them.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from tabprotect.engine.arrays import Floats, Ints, Shorts
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.posterior.moves import column_trains
from tabprotect.engine.posterior.moves.signature_model import GroupModel
from tabprotect.engine.posterior.moves.strips import REACH, StripPlan, given_factors
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.languages.messages import message

TOLERANCE = 1e-12
"""Share of the norm below which a split leaves out."""

WIDEST = 192
"""The largest rank."""

MOST_ERROR = 1e-3
"""Errors beyond it say that the prior contradicts the table: no law is stated then."""

TOO_WIDE = -2


class TrainSweeps:
    """The posterior of tall strips of one shape; takes the place of ``StripSweeps``.

    Attributes
    ----------
    error
        What is stated for the chances: see the module.
    """

    def __init__(
        self, model: GroupModel, plan: StripPlan, members: Ints, before: float, progress: Progress = SILENT
    ) -> None:
        self._model, self._plan, self._before, self._progress = model, plan, before, progress
        # (columns, rows, strips)
        self._groups = members[plan.cells]
        self.error = 0.0
        self._laws = model.symmetric and model.worth is None

    def _swept(self, strip: int, laws: Floats | None) -> Any:
        """The messages of a strip, and its laws."""
        groups = self._groups[:, :, strip : strip + 1]
        columns, rows, _ = groups.shape
        table, which, weights = given_factors(self._model, groups)
        self._progress.report(message("eliminating"), self._before)
        status, messages, error = column_trains.swept(
            *(columns, rows - 1, WIDEST, TOLERANCE, self._laws, laws is None), *(table, which, weights, laws)
        )
        if status == TOO_WIDE:
            raise TooWideError
        if status != 1:
            raise InfeasibleError(
                message("no original table fits this published table, mechanism and prior"),
                hint=message("check that table and mechanism belong together, or choose a wider prior"),
            )
        self.error = max(self.error, error if self._laws else 2.0 * error)
        if laws is not None and not self.error <= MOST_ERROR:
            raise TooWideError
        return messages

    def changes(self, out: Floats) -> None:
        """Fill the laws of the changes, float64 (groups, 2 span + 1)."""
        span = self._model.span
        reach = min(span, REACH)
        for strip in range(self._groups.shape[2]):
            laws = np.zeros((*self._groups.shape[:2], 2 * REACH + 1))
            self._swept(strip, laws)
            # Column by column: a large table has no room for a copy of its laws.
            for law, groups in zip(laws, self._groups[:, :, strip], strict=True):
                found = np.maximum(law[:, REACH - reach : REACH + reach + 1], 0.0)
                found /= found.sum(axis=1, keepdims=True)
                out[groups, span - reach : span + reach + 1] = found

    @cached_property
    def _messages(self) -> list[Any]:
        return [self._swept(strip, None) for strip in range(self._groups.shape[2])]

    def draw(self, out: Shorts, generator: np.random.Generator) -> None:
        """Fill joint draws of the changes, (draws, groups)."""
        columns, rows, strips = self._groups.shape
        number = len(out)
        for strip in range(strips):
            coefficients = np.zeros((number, rows - 1), dtype=np.int8)
            below = np.zeros((number, rows), dtype=np.int16)
            for c in range(columns):
                self._progress.report(message("drawing tables"), self._before)
                drawn = np.zeros_like(coefficients)
                if c < columns - 1:
                    random = generator.random((number, rows - 1))
                    status = column_trains.draw(
                        self._messages[strip], c - 1, number, random, coefficients, drawn
                    )
                    if status != 1:
                        raise InfeasibleError(message("no original table fits this published table"))
                now = np.diff(drawn, axis=1, prepend=0, append=0).astype(np.int16)
                out[:, self._groups[c, :, strip]] = below - now
                below, coefficients = now, drawn


class TooWideError(Exception):
    """Messages need ranks, or leave an error, beyond what is stated."""
