"""The words of the page of a bundle, in English; the page holds them in every language."""

from __future__ import annotations

from collections.abc import Mapping

from tabprotect.engine.belief import number_words
from tabprotect.languages.messages import message

WORDS: Mapping[str, str] = {
    "untitled": message("A protected table of counts"),
    "lead": message("The numbers were changed or hidden here and there to protect people."),
    "choose": message("Choose a number to see what the true count could be."),
    "table": message("Table"),
    "find": message("Find a row"),
    "total": message("Total"),
    "count_of": message("Count"),
    "hidden": message("hidden"),
    "hidden_note": message("x: hidden, not published to protect people."),
    "totals": message(
        "Totals are published, or sums of the numbers shown; there is none where one is hidden."
    ),
    "more": message("Show {more} more rows of {all}"),
    "copy": message("Copy as CSV"),
    "copied": message("Copied."),
    "not_copied": message("This browser does not let a page copy: select the figures below."),
    "too_large": message(
        "The table is too large to be shown here. Its counts are in the CSV files beside this page."
    ),
    "mark": message("published"),
    "published": message("{cell}: published {count}"),
    "not_published": message("{cell}: hidden"),
    "certain": message("Is {count}: no other true count is possible."),
    "could": message("Could be {low} to {high}."),
    "two": message("Could be {low} or {high}."),
    "likely": message("Most likely {count}, with {chance} in 100."),
    "less": message("less than 1"),
    "more_than": message("more than 99"),
    "nine": message("With at least 90 in 100 it is within {low} to {high}."),
    "small": message("A small count ({range})?"),
    "in_100": message("{chance} in 100"),
    "assume": message("What do you assume before you look?"),
    "uniform": message("nothing"),
    "uniform_help": message("every count is as likely as the next"),
    "positive": message("at least one"),
    "positive_help": message("somebody is counted there"),
    "poisson": message("about a number"),
    "poisson_help": message("Poisson around it"),
    "own": message("my own"),
    "own_help": message("a weight for each count of this cell"),
    "own_form": message("Counts with weights"),
    "own_wrong": message("Write counts with weights, such as 0: 1, 1: 3, 2: 2."),
    "number": message("The number"),
    "here": message("This cell only"),
    "bars": message("Bars: after reading the table. Dashed: what you assumed before."),
    "bins": message("Each bar holds {width} counts."),
    "chances": message("Every count with its probability"),
    "count": message("True count"),
    "chance": message("Probability"),
    "pictured": message("Probabilities of the true count; the same figures follow as a table."),
    "exact": message(
        "Worked out exactly in this page, from the counts and the public description of the method. Nothing that you choose leaves it."
    ),
    "strip": message(
        "Worked out in this page, off by a thousandth at most, from the counts and the public description of the method. Nothing that you choose leaves it."
    ),
    "exchange": message(
        "Worked out in this page: the steps of the method are run many times more from the published counts. Nothing that you choose leaves it."
    ),
    "listed": message(
        "Exact: tabprotect listed every table that can lie behind these numbers, and this page weighs them by what you assume. Nothing that you choose leaves it."
    ),
    "kept": message(
        "Worked out by tabprotect for a reader who assumes nothing, and kept here to a millionth. No other assumption can be chosen in this page: the program takes one."
    ),
    "drawn": message("Estimated from drawn tables, with a standard error of at most {error}."),
    "sum": message("This is a sum. Choose a single count to see what it could be."),
    "choose_sum": message("Choose a number to see where the true sum lies."),
    "shown_sum": message("This sum is published as it is."),
    "between": message("From what is published the sum lies within {low} to {high}."),
    "at_least": message("From what is published the sum is at least {low}; nothing bounds it above."),
    "alone": message("If one contributor makes up the sum, it lies within {low} to {high} with 90 in 100."),
    "sums": message("Worked out by tabprotect for contributions that are not below 0."),
    "impossible": message("No true count fits this table and what you assume."),
    "contradicted": message(
        "What you assume is so far from this table that this page cannot work it out; the program can."
    ),
    "method": message("What was done"),
    "exact_title": message("What is exact"),
    "about_table": message("About the table"),
    "parts": message("Do parts add up?"),
    "naive": message("If you calculate with these numbers"),
    "genuine": message("Is it genuine?"),
    "genuine_help": message(
        "These figures (SHA-256) are those of the files beside this page. Compare the one of the whole zip with the one that its publisher names elsewhere."
    ),
    "which": message("Which number shall I use?"),
    "which_help": message(
        "Mark numbers in the table: click them, or press Enter; a total marks all that it is the sum of. The best value, and how far the truth may be, stand here."
    ),
    "which_of": message("What do you want to know?"),
    "which_sum": message("their sum"),
    "which_difference": message("their sum less that of others"),
    "which_rate": message("their share or rate of others"),
    "which_into": message("What you mark now belongs to"),
    "which_first": message("the first numbers: {cells}"),
    "which_others": message("the others: {cells}"),
    "which_none": message("none yet"),
    "which_clear": message("Take all marks away"),
    "which_copy": message("Copy this text"),
    "which_command": message("The same from the program:"),
    "which_grouped": message("Numbers of this table are of groups: mark those of another table."),
    "which_program": message("This page holds no sums of this release; the program works them out."),
    "which_answer": number_words.ANSWER,
    "which_known": number_words.KNOWN,
    "which_sources": number_words.SOURCES,
    "which_no_sources": number_words.NO_SOURCES,
    "which_drawn": number_words.DRAWN,
    "which_may_be_none": number_words.MAY_BE_NONE,
    "close": message("Close"),
    "language": message("Language"),
    "keys": message("Arrow keys move between the numbers, Enter opens one."),
    "made": message("Made by tabprotect from the release alone. This page asks nothing of any network."),
}
