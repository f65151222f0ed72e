"""The words of the page of a bundle, in English; the page holds them in every language."""

from __future__ import annotations

from collections.abc import Mapping

from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.languages.said import say

WORDS: Mapping[str, str] = {
    "untitled": say("A protected table of counts"),
    "lead": say("The numbers were changed or hidden here and there to protect people."),
    "choose": say("Choose a number to see what the true count could be."),
    "table": say("Table"),
    "find": say("Find a row"),
    "total": say("Total"),
    "count_of": say("Count"),
    "hidden": say("hidden"),
    "hidden_note": say("x: hidden, not published to protect people."),
    "totals": say(
        "Totals are published, or sums of the numbers shown; there is none where one is hidden."
    ),
    "more": say("Show {more} more rows of {all}"),
    "copy": say("Copy as CSV"),
    "copied": say("Copied."),
    "not_copied": say("This browser does not let a page copy: select the figures below."),
    "too_large": say(
        "The table is too large to be shown here. Its counts are in the CSV files beside this page."
    ),
    "mark": say("published"),
    "published": say("{cell}: published {count}"),
    "not_published": say("{cell}: hidden"),
    "certain": say("Is {count}: no other true count is possible."),
    "could": say("Could be {low} to {high}."),
    "two": say("Could be {low} or {high}."),
    "likely": say("Most likely {count}, with {chance} in 100."),
    "less": say("less than 1"),
    "more_than": say("more than 99"),
    "nine": say("With at least 90 in 100 it is within {low} to {high}."),
    "small": say("A small count ({range})?"),
    "in_100": say("{chance} in 100"),
    "assume": say("What do you assume before you look?"),
    "uniform": say("nothing"),
    "uniform_help": say("every count is as likely as the next"),
    "positive": say("at least one"),
    "positive_help": say("somebody is counted there"),
    "poisson": say("about a number"),
    "poisson_help": say("Poisson around it"),
    "own": say("my own"),
    "own_help": say("a weight for each count of this cell"),
    "own_form": say("Counts with weights"),
    "own_wrong": say("Write counts with weights, such as 0: 1, 1: 3, 2: 2."),
    "number": say("The number"),
    "here": say("This cell only"),
    "bars": say("Bars: after reading the table. Dashed: what you assumed before."),
    "bins": say("Each bar holds {width} counts."),
    "chances": say("Every count with its probability"),
    "count": say("True count"),
    "chance": say("Probability"),
    "pictured": say("Probabilities of the true count; the same figures follow as a table."),
    "exact": say(
        "Worked out exactly in this page, from the counts and the public description of the method. Nothing that you choose leaves it."
    ),
    "listed": say(
        "Exact: tabprotect listed every table that can lie behind these numbers, and this page weighs them by what you assume. Nothing that you choose leaves it."
    ),
    "kept": say(
        "Worked out by tabprotect for a reader who assumes nothing, and kept here to a millionth. No other assumption can be chosen in this page: the program takes one."
    ),
    "drawn": say("Estimated from drawn tables, with a standard error of at most {error}."),
    "sum": say("This is a sum. Choose a single count to see what it could be."),
    "choose_sum": say("Choose a number to see where the true sum lies."),
    "shown_sum": say("This sum is published as it is."),
    "between": say("From what is published the sum lies within {low} to {high}."),
    "at_least": say("From what is published the sum is at least {low}; nothing bounds it above."),
    "alone": say(
        "If one contributor makes up the sum, it lies within {low} to {high} with 90 in 100."
    ),
    "sums": say("Worked out by tabprotect for contributions that are not below 0."),
    "impossible": say("No true count fits this table and what you assume."),
    "method": say("What was done"),
    "exact_title": say("What is exact"),
    "naive": say("If you calculate with these numbers"),
    "genuine": say("Is it genuine?"),
    "genuine_help": say(
        "These figures (SHA-256) are those of the files beside this page. Compare the one of the whole zip with the one that its publisher names elsewhere."
    ),
    "close": say("Close"),
    "language": say("Language"),
    "keys": say("Arrow keys move between the numbers, Enter opens one."),
    "made": say(
        "Made by tabprotect from the release alone. This page asks nothing of any network."
    ),
}


def exact_lines(release: Release, shown: str = "- {}", times: str = " x ") -> list[str]:
    """What is exact in a release, by line; how a margin is shown, and what joins its variables."""
    method, parameters = methods()[release.mechanism.method], release.mechanism.parameters
    moves, promised = parameters.get("cycles"), method.promised(release.mechanism.values)
    if isinstance(moves, MoveSet):
        if not any(moves.margins):
            return [say("The grand total. No other margin is kept on purpose.")]
        said = say("The grand total, and these margins with everything that adds up from them:")
        return [said, "", *(shown.format(times.join(one)) for one in moves.margins if one)]
    if "exact" in promised:
        return [say("Every count that is published.")]
    if "total_kept" in promised:
        return [say("The grand total. See the properties below for more.")]
    return [say("No count: each may differ from the true one, as the properties below say.")]
