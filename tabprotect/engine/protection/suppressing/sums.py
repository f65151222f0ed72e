"""Suppression of sums: those that tell too much of one contributor are hidden, and what would reveal them.

By letters of a plan, so that a reader who runs this program again learns nothing further from the
pattern; or the cheapest pattern for the contributions themselves. Either is tried by contributors as readers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.parameters import Parameter, Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.method import MagnitudeMethod
from tabprotect.engine.protection.problem import Draft, MagnitudeProblem, Problem
from tabprotect.engine.protection.suppressing.given_statuses import given_sums, text_of
from tabprotect.engine.release.findings import Omission
from tabprotect.engine.release.published_magnitudes import PublishedMagnitudes
from tabprotect.engine.release.release import Release
from tabprotect.engine.sensitivity.magnitude_rules import rules_of
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.messages import message

if TYPE_CHECKING:
    from tabprotect.engine.magnitudes.readers.beliefs import CellBelief, ContributorView

MOST_HIDDEN = 60
"""Up to this many hidden sums an outsider's beliefs about them are worked out."""

COST_OF_SUM: Parameter[object] = Parameter(
    "cost",
    message("What hiding a sum costs"),
    message("The cheapest sums that protect are hidden."),
    "choice",
    "value",
    choices={
        "value": message("value"),
        "n": message("number of records"),
        "unity": message("each the same"),
        "column": message("the column of costs of the records"),
    },
    public=False,
)
"""A column of costs has its own name besides."""


LETTERS_OF_SUMS, CHEAPEST = "letters", "cheapest"

NO_LETTERS = message("letters need all contributions, none negative, weighted, or judged by another variable")

GIVEN = "statuses_given"
"""Disclosed: whether statuses were given, not which."""

CHOICE_OF_SUMS: Parameter[object] = Parameter(
    "choice",
    message("Choice"),
    message("Which of many patterns is taken."),
    "choice",
    "usual",
    choices={
        "usual": message(
            "By letters where every contributor can be tried as a reader; the cheapest elsewhere, and where "
            "letters tell too much."
        ),
        LETTERS_OF_SUMS: message(
            "The cheapest pattern for a plan that knows of each finest sum letters drawn by chance; the "
            "letters of size of hidden sums are published. What the pattern tells is told by them."
        ),
        CHEAPEST: message("The cheapest pattern found: it hides less, and what it tells is not judged."),
    },
)


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
    parameters = (
        CHOICE_OF_SUMS,
        COST_OF_SUM,
        Parameter(
            "zeros",
            message("Sums of 0"),
            message("Needed doubt: a whole number, or published."),
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
            choices={"judged": message("same for all"), "safe": message("they are declared safe")},
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

    def is_random(self, values: Values) -> bool:
        # Letters follow from a key, not from the generator.
        return False

    def resolve(self, domain: Domain, given: Mapping[str, object]) -> Values:
        # The name of a column of costs is no choice of the form.
        cost = str(given.get(COST_OF_SUM.name) or COST_OF_SUM.default)
        values = super().resolve(domain, {**given, COST_OF_SUM.name: COST_OF_SUM.default}) | {
            COST_OF_SUM.name: cost
        }
        zeros = str(values["zeros"])
        if zeros != "published" and values[CHOICE_OF_SUMS.name] == LETTERS_OF_SUMS:
            raise ParameterError(
                {"choice": message("the letter of a sum of 0 tells it: sums of 0 are published")},
                hint=message("take choice=cheapest"),
            )
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

    def draw(
        self, problem: Problem, values: Values, generator: np.random.Generator, progress: Progress = SILENT
    ) -> Draft:
        from tabprotect.engine.magnitudes.patterns import letters
        from tabprotect.engine.magnitudes.patterns.pattern import SuppressionRequest, has_everybody, suppress
        from tabprotect.engine.magnitudes.readers.size_letters import LETTERS, as_text

        asked = problem.contributions
        table, zeros = asked.table, str(values["zeros"])
        statuses = table.given + str(values["statuses"] or "")
        if not asked.rules and not statuses.strip():
            rules_of(())
        wanted = SuppressionRequest(
            rules=asked.rules,
            weights=asked.weights,
            cost=str(values[COST_OF_SUM.name]),
            frozen=None if asked.before is None else _published_before(asked, asked.before),
            decided=given_sums(statuses, table) if statuses.strip() else None,
            zeros=0 if zeros == "published" else int(zeros) * 10**table.decimals,
            missing_safe=values["missing"] == "safe",
        )
        choice, pattern = values[CHOICE_OF_SUMS.name], None
        lettered = letters.has_letters(table)
        if choice == LETTERS_OF_SUMS and not lettered:
            raise ParameterError({"choice": NO_LETTERS}, hint=message("take choice=cheapest"))
        disclosed: dict[str, object] = {CHOICE_OF_SUMS.name: CHEAPEST}
        if choice == LETTERS_OF_SUMS or (
            choice == "usual"
            and asked.draw <= letters.DRAWS
            and lettered
            and not wanted.zeros
            and has_everybody(table)
        ):
            pattern = letters.suppress_by_letters(table, wanted, asked.key, asked.draw, progress)
            told = as_text(letters.hidden_letters(table, pattern))
            disclosed = {CHOICE_OF_SUMS.name: LETTERS_OF_SUMS, LETTERS: told}
            if statuses.strip():
                disclosed[GIVEN] = True
        if pattern is None:
            pattern = suppress(table, wanted, progress)
        published = asked.published(table.cells.value, pattern.hidden)
        return Draft(magnitudes=(published,), disclosed=disclosed, pattern=pattern)

    def beliefs(
        self, release: Release, view: ContributorView, within: float, *, seed: int = 0
    ) -> Iterator[CellBelief]:
        from tabprotect.engine.magnitudes.readers.beliefs import hidden_beliefs

        chance = np.random.default_rng(seed)
        return hidden_beliefs(release.magnitude_table, view, within, chance, _told(release))

    def outsider(self, release: Release, within: float) -> Floats | None:
        return (
            None
            if int(release.magnitude_table.hidden.sum()) > MOST_HIDDEN
            else super().outsider(release, within)
        )

    def quantiles(self, release: Release, levels: Floats) -> tuple[Ints, Floats]:
        from tabprotect.engine.magnitudes.readers.beliefs import hidden_quantiles

        table, chance = release.magnitude_table, np.random.default_rng(0)
        if int(table.hidden.sum()) > MOST_HIDDEN:
            return np.zeros(0, dtype=np.int64), np.zeros((0, len(levels)))
        return np.flatnonzero(table.hidden), hidden_quantiles(table, levels, chance, _told(release))

    def ranges(self, release: Release) -> tuple[Ints, Floats]:
        from tabprotect.engine.magnitudes.readers.beliefs import hidden_ranges

        table = release.magnitude_table
        return np.flatnonzero(table.hidden), hidden_ranges(table)

    def narrow(
        self, problem: MagnitudeProblem, unsafe: Bools, release: Release, limits: tuple[float, float]
    ) -> int:
        from tabprotect.engine.magnitudes.readers.beliefs import second_beliefs
        from tabprotect.engine.magnitudes.readers.contributors import contributors

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
        found = second_beliefs(published, cells, parts, within, _told(release))
        return int((found > limit).sum())

    def most_draws(self, values: Values, release: Release) -> int:
        from tabprotect.engine.magnitudes.patterns.letters import DRAWS

        if release.mechanism.parameters.get(CHOICE_OF_SUMS.name) != LETTERS_OF_SUMS:
            return 1
        # The last of the usual ones is the cheapest pattern.
        return DRAWS if values[CHOICE_OF_SUMS.name] == LETTERS_OF_SUMS else DRAWS + 1

    def told_beside(self, release: Release) -> frozenset[str]:
        by_letters = release.mechanism.parameters.get(CHOICE_OF_SUMS.name) == LETTERS_OF_SUMS
        return (
            frozenset() if not by_letters or _told(release) is None else frozenset({LETTERS_OF_SUMS, GIVEN})
        )

    def left_out(self, release: Release) -> tuple[Omission, ...]:
        parameters = release.mechanism.parameters
        told = parameters.get(CHOICE_OF_SUMS.name) == LETTERS_OF_SUMS and GIVEN not in parameters
        # With the numbers of the rules the choice could be made again, but from letters.
        return ("pattern_choice",) if release.magnitude_table.hidden.any() and not told else ()


def _told(release: Release) -> Ints | None:
    """The published letter of each sum, int64 (cells,); ``None`` where nothing was chosen by letters.

    Raises
    ------
    InputError
        When the mechanism does not state one for each hidden finest sum.
    """
    from tabprotect.engine.magnitudes.readers.size_letters import LETTERS, NO_LETTER, finest, from_text

    if LETTERS not in release.mechanism.parameters:
        return None
    table = release.magnitude_table
    inner = finest(table.shape, tuple(len(v.categories) for v in table.variables), table.key)
    out = np.full(len(table.key), NO_LETTER, dtype=np.int64)
    at = np.flatnonzero(inner & table.hidden)
    out[at] = from_text(release.mechanism.parameters[LETTERS], len(at))
    return out


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
