"""What readers who know a person's key variables learn of the sensitive one: eight measures.

Two readers, one who guesses and one who takes themself off the table, each by four figures: how
sure they are, and how the exact disclosures that they see compare with those of the original.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Literal

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.attribute_disclosure import Disclosures, Intruder
from tabprotect.engine.assessment.figure import Figure, NotComputable, mean
from tabprotect.engine.assessment.measure import Measure
from tabprotect.languages.messages import message

Number = Literal["f_beta", "precision", "recall", "surest"]

WHO: dict[Intruder, tuple[str, str]] = {
    "guessing": ("Guessing", message("a reader who guesses")),
    "know_yourself": (message("Knowing oneself"), message("a reader who takes themself off the table")),
}

CERTAIN: dict[Intruder, str] = {
    "guessing": message(
        "Guessing, the reader takes a sensitive category for certain where the expected "
        "inner cells leave no other (a group in one category)."
    ),
    "know_yourself": message(
        "Knowing one person, the reader takes a sensitive category for certain "
        "where the expected inner cells leave no other (after that person is taken off their own)."
    ),
}

GROUPS = message("Key groups are the combinations of the key variables.")

ABC = message(
    "With a, b, c the number of key groups where this happens in the original, in the release (of "
    "groups that occur in the original), and in both for the same category, the risk is "
    "(1 + beta^2) c / (beta^2 a + b), and 0 where that is 0 / 0. Group by group: the probability "
    "of the surest guess."
)


def _share(of: int, none: str) -> Callable[[Disclosures], float]:
    """The share that both show of what one of them shows; ``none`` says why there is none."""

    def share(found: Disclosures) -> float:
        if not found.counts[of]:
            raise NotComputable(none)
        return found.counts[2] / found.counts[of]

    return share


VALUE: dict[Number, Callable[[Disclosures], float]] = {
    "f_beta": lambda found: found.f_beta,
    "precision": _share(1, message("no key group looks disclosed")),
    "recall": _share(0, message("no key group of the original is disclosed")),
    "surest": lambda found: mean(
        found.released.probability[found.occupied], message("the original is empty")
    ),
}


class GuessedCategory(Measure):
    """One figure about one intruder.

    Attributes
    ----------
    intruder
        Who guesses.
    number
        Which figure.
    """

    direction = "lower is better"
    noun = "risk"
    needs = ("restored", "expected", "key")
    intruder: ClassVar[Intruder]
    number: ClassVar[Number]

    def compute(self, case: AssessedRelease) -> Figure:
        """Compute it from the expected inner cells."""
        found = case.disclosures(self.intruder)
        value = VALUE[self.number](found)
        if self.over != "key groups":
            return Figure(value)
        return Figure(value, case.by_group(found.released.probability, found.occupied))


def _both(
    begin: str, what: str, figure: Number, summary: str, more: Callable[[Intruder], str], source: str
) -> list[Measure]:
    """The figure for each intruder."""
    out: list[Measure] = []
    for who, (short, long) in WHO.items():

        class Made(GuessedCategory):
            name = begin if who == "guessing" else f"{begin}_know_yourself"
            label = message("{short}: {what}", short, what)
            unit = "probability" if figure == "surest" else "share"
            over = "key groups" if figure in ("f_beta", "surest") else "published cells"
            intruder = who
            number = figure
            text = message(
                "{format}\n\n{who}\n\nSource: {source}", summary.format(who=long), more(who), source
            )

        out.append(Made())
    return out


def _defined(who: Intruder) -> str:
    return message("{GROUPS} {CERTAIN}", GROUPS, CERTAIN[who])


def _weighed(who: Intruder) -> str:
    return message("{who} {ABC}", _defined(who), ABC)


def _averaged(who: Intruder) -> str:
    return (
        message(
            "Mean over the key groups that occur in the original of the probability of the surest "
            "guess, from the expected inner cells less one person of the most favourable category."
        )
        if who == "know_yourself"
        else message(
            "Mean over the key groups that occur in the original of the probability of the surest "
            "guess, from the expected inner cells."
        )
    )


SECTION = message("Langsrud and Lupp 2021, section 6.")

PLUGINS = (
    *_both(
        "risk_fbeta",
        message("F-beta risk"),
        "f_beta",
        message("Exact disclosures by {who}: F-beta, beta = 0.5."),
        _weighed,
        message("Langsrud and Lupp 2021, section 6, equation 5."),
    ),
    *_both(
        "risk_precision",
        "precision",
        "precision",
        message("Of the exact disclosures that {who} sees in a release, the share that are true."),
        _defined,
        SECTION,
    ),
    *_both(
        "risk_recall",
        "recall",
        "recall",
        message("Of the exact disclosures in the original, the share that {who} sees in a release."),
        _defined,
        SECTION,
    ),
    *_both(
        "guess_probability",
        message("surest guess"),
        "surest",
        message("How sure {who} is of a person's sensitive category."),
        _averaged,
        message("Langsrud and Lupp 2021, tables 9 and 10."),
    ),
)
