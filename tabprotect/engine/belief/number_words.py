"""What is said of a number that is best used: by the command, the library, the window, and the page of a bundle."""

from __future__ import annotations

from tabprotect.languages.messages import message

ANSWER = message("{asked}: {estimate}; between {low} and {high} with a chance of {level} in 100.")

KNOWN = message("{asked}: {estimate}. It is known exactly: no other value is possible.")

SOURCES = message(
    "The noise of the published total has a variance of {total}, that of the sum of its parts {parts}; both "
    "together leave {both}: use both."
)

NO_SOURCES = message(
    "No total of just these numbers was published with noise of its own: their sum takes in all that was published."
)

DRAWN = message("Drawn, with a standard error of {error}.")

MAY_BE_NONE = message("The second sum may be 0: ask for the sums themselves.")
