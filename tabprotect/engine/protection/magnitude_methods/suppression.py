"""Suppression: sums that tell too much of one contributor are hidden, and others that protect them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.magnitudes.patterns.pattern import SuppressionRequest, suppress
from tabprotect.engine.magnitudes.readers.beliefs import (
    CellBelief,
    ContributorView,
    hidden_beliefs,
    hidden_ranges,
    second_beliefs,
)
from tabprotect.engine.magnitudes.readers.contributors import contributors
from tabprotect.engine.parameters import Parameter, Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.magnitude_method import MagnitudeDraft, MagnitudeMethod, MagnitudeProblem
from tabprotect.engine.protection.suppressing.given_statuses import text_of
from tabprotect.engine.protection.suppressing.given_sums import given_sums
from tabprotect.engine.release.left_out import Omission
from tabprotect.engine.release.published_magnitudes import PublishedMagnitudes
from tabprotect.engine.release.release import Release
from tabprotect.engine.sensitivity.magnitude_rules import rules_of
from tabprotect.languages.messages import message

MOST_HIDDEN = 60
"""Up to this many hidden sums an outsider's beliefs about them are worked out."""

COST: Parameter[object] = Parameter(
    "cost",
    message("What hiding a sum costs"),
    message("The cheapest sums that protect are hidden."),
    "choice",
    "value",
    choices={
        "value": message("its value"),
        "n": message("its number of records"),
        "unity": message("each the same"),
        "column": message("the column of costs of the records"),
    },
)
"""A column of costs has its own name besides."""


class SuppressionOfMagnitudes(MagnitudeMethod):
    name = "suppression"
    label = message("Suppression")
    about = message(
        "Hides what tells too much of one contributor, and as little else as protects it. All other sums "
        "stay exact."
    )
    promise = message(
        "Sums that would tell too much of one contributor are hidden, and others with them, so that no "
        "single contributor that was tried can estimate another's value too closely from what is "
        "published and his own. How close is too close is not published."
    )
    hint = message("free cells that are frozen, use coarser categories, or accept it: --accept REASON")
    place = 1
    takes_rules = True
    is_random = False
    parameters = (
        COST,
        Parameter(
            "zeros",
            message("Sums of 0"),
            message("Published, or by how much a reader has to be uncertain of one: a whole number."),
            "text",
            "published",
            public=False,
        ),
        Parameter(
            "missing",
            message("Sums of unknown categories"),
            message("Whether the rules hold for records whose category is not known."),
            "choice",
            "judged",
            choices={"judged": message("as for any other"), "safe": message("they are declared safe")},
            public=False,
        ),
        Parameter(
            "statuses",
            message("Given statuses"),
            message("A tau-ARGUS a priori file: sums to hide or never to hide, unsafe ones, costs."),
            "statuses",
            public=False,
        ),
    )

    def resolve(self, given: Mapping[str, object]) -> Values:
        # The name of a column of costs is no choice of the form.
        cost = str(given.get(COST.name) or COST.default)
        values = super().resolve({**given, COST.name: COST.default}) | {COST.name: cost}
        zeros = str(values["zeros"])
        if zeros != "published" and not (zeros.isdecimal() and 0 < int(zeros) < 10**15):
            raise ParameterError(
                {"zeros": message("published, or by how much a zero has to be uncertain, as a number")}
            )
        if values["statuses"]:
            # As for counts, the content of the file is kept: a project does not hang on it.
            try:
                values |= {"statuses": text_of(str(values["statuses"]))}
            except InputError as error:
                raise ParameterError({"statuses": error.message}) from None
        return values

    def draw(self, problem: MagnitudeProblem, values: Values, progress: Progress = SILENT) -> MagnitudeDraft:
        if not problem.rules:
            rules_of(())
        table, zeros = problem.table, str(values["zeros"])
        statuses = table.given + str(values["statuses"] or "")
        wanted = SuppressionRequest(
            rules=problem.rules,
            weights=problem.weights,
            cost=str(values[COST.name]),
            frozen=None if problem.before is None else _published_before(problem, problem.before),
            decided=given_sums(statuses, table) if statuses.strip() else None,
            zeros=0 if zeros == "published" else int(zeros) * 10**table.decimals,
            missing_safe=values["missing"] == "safe",
        )
        pattern = suppress(table, wanted, progress)
        return MagnitudeDraft(table.cells.value, {}, pattern.primary, pattern)

    def beliefs(
        self, release: Release, view: ContributorView, within: float, *, seed: int = 0
    ) -> Iterator[CellBelief]:
        return hidden_beliefs(release.magnitude_table, view, within, np.random.default_rng(seed))

    def outsider(self, release: Release, within: float) -> Floats | None:
        return (
            None
            if int(release.magnitude_table.hidden.sum()) > MOST_HIDDEN
            else super().outsider(release, within)
        )

    def ranges(self, release: Release) -> tuple[Ints, Floats]:
        table = release.magnitude_table
        return np.flatnonzero(table.hidden), hidden_ranges(table)

    def narrow(
        self, problem: MagnitudeProblem, unsafe: Bools, release: Release, limits: tuple[float, float]
    ) -> int:
        published = release.magnitude_table
        if int(published.hidden.sum()) > MOST_HIDDEN:
            return 0
        table, (within, limit) = problem.table, limits
        cells = np.flatnonzero(unsafe & published.hidden)
        parts = np.zeros((len(cells), 2), dtype=np.int64)
        for n, cell in enumerate(cells.tolist()):
            sizes = [abs(one.own) for one in contributors(table, cell)]
            whole = sum(sizes) if table.largest is None else int(table.cells.value[cell])
            parts[n] = sum(sizes[1:2]), whole - sum(sizes[:2])
        return int((second_beliefs(published, cells, parts, within) > limit).sum())

    def left_out(self, release: Release) -> tuple[Omission, ...]:
        # With the numbers of the rules the choice could be made again.
        return ("pattern_choice",) if release.magnitude_table.hidden.any() else ()


def _published_before(problem: MagnitudeProblem, last: PublishedMagnitudes) -> Bools:
    """The cells that last year's release published.

    Raises
    ------
    InputError
        When it is of other variables.
    """
    table = problem.table
    if [v.name for v in last.variables] != [v.name for v in table.variables]:
        raise InputError(
            message("last year's release is of other variables"),
            hint=message("give last year's bundle of this table"),
        )
    before = {tuple(sorted(last.index(number).items())) for number in np.flatnonzero(~last.hidden).tolist()}
    return np.array([tuple(sorted(table.index(n).items())) in before for n in range(len(table.cells))])


PLUGIN = SuppressionOfMagnitudes()
