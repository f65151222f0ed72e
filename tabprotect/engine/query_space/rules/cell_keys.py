"""Cell keys: answer every request with noise that the records decide, from a table of records.

No true sub-table is released, so that no criterion is asked. Each count gets the noise of its cell
key (see the method cell_key): the same records get the same noise in every answer, whoever asks. A
request is refused by what is public alone: where the published counts are too few a cell, or too many
of them are 0, of all or slice by slice; and where least squares over all that is out would leave noise of a standard
deviation below 1.15 on the counts of a table that may hold a small one. The noise of large counts may be undone.
What a refusal tells is what the published answer would have told.

Source: Fraser and Wooton 2005 (TableBuilder).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from tabprotect.engine.errors import ParameterError
from tabprotect.engine.parameters import Parameter, Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.cell_keys.key_parameters import JS, D, V
from tabprotect.engine.protection.cell_keys.perturbation_table import perturbation_table
from tabprotect.engine.query_space.keyed_answers import LEAST, LEAST_D
from tabprotect.engine.query_space.rule import ReleaseRule, Ruling, Situation
from tabprotect.languages.messages import message

MEAN: Parameter[float] = Parameter(
    "mean",
    message("Least mean count"),
    message("The mean of the published counts of an answer must not be below it."),
    "real",
    1.0,
    low=0.0,
)

EMPTY: Parameter[float] = Parameter(
    "empty",
    message("Most empty cells"),
    message("Share of the published counts of an answer that may be 0."),
    "real",
    0.9,
    low=0.0,
    high=1.0,
)


SLICES: Parameter[str | None] = Parameter(
    "slices",
    message("Slice by slice"),
    message(
        "A variable, such as the area: in an answer that has it, both hold for each of its categories by "
        "itself, so that no area is lost among larger ones."
    ),
    "text",
)


class CellKeys(ReleaseRule):
    """The rule that answers every request with noise."""

    name: ClassVar[str] = "cell_keys"
    label: ClassVar[str] = message("Answer everything with noise by cell keys")
    parameters: ClassVar[tuple[Parameter[object], ...]] = (D, V, JS, MEAN, EMPTY, SLICES)
    simulatable: ClassVar[bool] = True
    keyed: ClassVar[bool] = True

    def resolve(self, given: Mapping[str, object]) -> Values:
        """Complete and check: noise that is thin in one answer answers nothing."""
        values = super().resolve(given)
        wrong = {}
        if values[V] <= LEAST**2:
            wrong["V"] = message("must be above {least:g}, else nothing is answered", LEAST**2)
        if values[D] < LEAST_D:
            wrong["D"] = message("must be at least {least}, else several answers tell small counts", LEAST_D)
        if wrong:
            raise ParameterError(wrong)
        # Raises where there is no such noise.
        perturbation_table(D=values[D], V=values[V], js=values[JS])
        return values

    def decide(self, situation: Situation, values: Values, progress: Progress = SILENT) -> Ruling:
        answers, lattice = situation.answers, situation.state.evidence.lattice
        assert answers is not None
        left = answers.deviation_left(situation.out, situation.query)
        if left < LEAST:
            detail = message("noise of deviation {left:.3f} would be left", left)
            return Ruling("refuse", message("not released: it would undo the noise of what is out"), detail)
        names = lattice.names_of(situation.query)
        counts = answers.release(names).table.counts
        slices = (
            np.moveaxis(counts, names.index(values[SLICES]), 0) if values[SLICES] in names else counts[None]
        )
        slices = slices.reshape(len(slices), -1)
        mean, empty = slices.mean(axis=1).min(), (slices == 0).mean(axis=1).max()
        detail = message("published: mean {mean:.2f}, {empty:.2f} of the cells 0", mean, empty)
        if mean < values[MEAN]:
            return Ruling(
                "refuse", message("not released: its counts are too small on average; ask for less"), detail
            )
        if empty > values[EMPTY]:
            return Ruling(
                "refuse", message("not released: too many of its cells are empty; ask for less"), detail
            )
        return Ruling("release", message("with noise by cell keys"), detail)


PLUGIN = CellKeys()
