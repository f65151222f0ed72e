"""Sentences on analyses that take published counts as true, by the method that made them.

Facts of the methods, measured on tables that were drawn for it (``resources/docs/site/coverage.md``
has every figure); nothing here depends on the table that is published.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tabprotect.languages.messages import message


@dataclass(frozen=True)
class Measured:
    """The figures measured of a method, least and most over tables with 2 to 8 people to a cell.

    Attributes
    ----------
    strength
        How the counts were changed.
    rejected
        Of 100 tables without an association, those in which a test at 5 in 100 finds one.
    covered
        Of 100 intervals at 95 in 100 of a log odds ratio, those that hold the true one.
    """

    strength: str
    rejected: tuple[int, int]
    covered: tuple[int, int]


MEASURED: Mapping[str, Measured] = {
    "random_rounding": Measured(message("rounding to 3"), (16, 64), (74, 93)),
    "cell_key": Measured(message("noise of up to 3 either way, with a variance of 2"), (20, 66), (75, 90)),
    "discrete_laplace": Measured(message("Laplace noise, epsilon 2"), (16, 32), (87, 92)),
    "cyclic_perturbation": Measured(message("one pass of the usual cycles"), (10, 35), (87, 94)),
}

HIDDEN = Measured("", (5, 73), (48, 95))
"""Example of suppression: hidden counts taken as none, 8 people to a cell."""

MISLED = message(
    "Taken as true they mislead: with {strength}, in tables with 2 to 8 people to a cell, a test at 5 in 100 finds an association that is not there in {least} to {most} of 100 tables, and intervals of a log odds ratio that are to hold the truth in 95 of 100 hold it in {low} to {high}."
)

NOT_MEASURED = message(
    "Taken as true they mislead: tests find associations that are not there, and intervals are too narrow; by how much was not measured for this method."
)

TRUE = message("Every number here is true: whatever is worked out of them is right.")

NOT_NOTHING = message(
    "Every number that is shown is true; a hidden one is not 0. Hidden ones taken as 0 mislead: in tables with 8 people to a cell a test at 5 in 100 finds an association that is not there in {least} to {most} of 100 tables, and intervals of a log odds ratio that are to hold the truth in 95 of 100 hold it in {low} to {high}."
)

NOISY_SUMS = message(
    "Taken as true they mislead: every result has the noise of the sums in it, and the usual intervals do not know of it."
)

HIDDEN_SUMS = message(
    "A hidden sum is not 0: whoever counts it as nothing, or leaves it out, gets totals and comparisons that are wrong."
)

WHERE = message(
    "Analyses that know what was done come with tabprotect (tabprotect analyse); its documentation explains them under “Rates, tests and associations of a release”."
)


def naive_words(method: str, *, exact: bool) -> list[str]:
    """Sentences for counts by a method.

    Parameters
    ----------
    exact
        Whether all published counts are true.
    """
    found = {**MEASURED, "suppression": HIDDEN}.get(method)
    if found is None:
        return [TRUE] if exact else [NOT_MEASURED, WHERE]
    (least, most), (low, high) = found.rejected, found.covered
    text = NOT_NOTHING if found is HIDDEN else MISLED
    return [text.format(strength=found.strength, least=least, most=most, low=low, high=high), WHERE]


def naive_magnitude_words(*, noisy: bool) -> list[str]:
    """Write the sentences for sums."""
    return [NOISY_SUMS if noisy else HIDDEN_SUMS]
