"""A posterior as its reader has it: how it was got, and what it leaves out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.plain_values.encoding import keyed
from tabprotect.engine.posterior.columns import cells_json
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.languages.messages import joined, message


@dataclass(frozen=True, eq=False)
class Believed:
    """The belief about every true count, given some releases.

    Attributes
    ----------
    posterior
        Given everything that was taken in, with the way it was got and its error.
    attempts_at_most
        Draws there could have been until one passed the gate; 1 where none is stated.
    weighed
        Whether that is taken in (or changes nothing).
    releases
        How many were read together.
    factor
        The factor by which entries of stated lists that may have been refused move any odds at most.
    repeated
        Those among them that are the same draw as another, and were left out.
    """

    posterior: Posterior
    attempts_at_most: int = 1
    weighed: bool = True
    releases: int = 1
    repeated: int = 0
    factor: float = 1.0

    @property
    def sentence(self) -> str:
        """Say what became of repeated draws and attempts, in words; empty where there were none."""
        said = []
        if self.repeated:
            of = (
                message("One release is")
                if self.repeated == 1
                else message("{repeated} releases are", self.repeated)
            )
            said.append(message("{of} the same draw as another, which tells nothing more.", of))
        if not self.weighed:
            said.append(
                message(
                    "Up to {attempts_at_most} draws were allowed: no reader's odds are off by more than "
                    "{attempts_at_most} to 1 for that.",
                    self.attempts_at_most,
                )
            )
        if self.factor > 1:
            said.append(
                message(
                    "It left as an entry of a stated list: that others may have been refused moves no "
                    "odds by more than {factor:.3g} to 1.",
                    self.factor,
                )
            )
        return joined(said, " ")

    @property
    def left_out(self) -> str:
        """Everything that a reader may know beyond the posterior, in words."""
        return joined(filter(None, [self.posterior.note, self.sentence]), " ")

    def head(self) -> dict[str, object]:
        """The figures about all cells at once, as they are written in JSON."""
        found = keyed(
            self.posterior,
            "way variables=domain.names reason note complete approximate independent error "
            "effective_sample_size draws r_hat prior=prior.label originals mode_is_published",
        )
        found["right"] = {
            count: {"cells": cells, "chance": chance}
            for count, (cells, chance) in self.posterior.right().items()
        }
        if (weakened := self.posterior.weakened) is not None:
            found["weakened"] = {"left": weakened.left.tolist(), "unbiased": weakened.unbiased.tolist()}
        return found | keyed(self, "attempts_at_most attempts_weighed=weighed odds_factor=factor releases")

    def json_pieces(self, cells: Ints | None = None) -> Iterator[str]:
        """The whole as one JSON text in pieces: a million cells make some 200 MB.

        Parameters
        ----------
        cells : int64
            Flat cells, in the order they are written; by default all.
        """
        if cells is None:
            cells = np.arange(self.posterior.domain.size, dtype=np.int64)
        head = json.dumps(self.head(), allow_nan=False)
        yield message('{head}, "cells": [', head[:-1])
        yield from cells_json(self.posterior, cells)
        yield "]}\n"
