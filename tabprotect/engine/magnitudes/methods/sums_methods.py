"""The methods that protect magnitude tables: what each does, and its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tabprotect.engine.errors import ParameterError
from tabprotect.engine.magnitudes.methods.key_noise import NUMBERS, KeyNoise
from tabprotect.engine.magnitudes.methods.multipliers import MultiplierLaw
from tabprotect.engine.parameters import Parameter
from tabprotect.languages.messages import joined, message


@dataclass(frozen=True)
class SumsMethod:
    """A method for sums.

    Attributes
    ----------
    name, label
    about
        A sentence.
    parameters
    of
        Raises where parameters do not fit each other.
    """

    name: str
    label: str
    about: str
    parameters: tuple[Parameter[object], ...]
    of: Callable[[Mapping[str, object]], object]


SUPPRESSION: tuple[Parameter[object], ...] = (
    Parameter(
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
    ),
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
"""What suppression may be told; a column of costs has its own name besides."""

PUBLISH: Parameter[object] = Parameter(
    "publish",
    message("Beside the sums"),
    message("What is published of each sum that is shown."),
    "choice",
    "none",
    choices={
        "none": message("nothing"),
        "n": message("its number of records"),
        "mean": message("its mean"),
        "n,mean": message("its number of records and its mean"),
    },
)
"""What is published beside sums, whatever the method: ``--publish`` of the command line."""


def published_beside(given: object) -> tuple[str, ...]:
    """The names of what is published beside sums."""
    return () if given in (None, PUBLISH.default) else tuple(str(given).split(","))


def _suppression(given: Mapping[str, object]) -> object:
    names = [one.name for one in SUPPRESSION]
    unknown = given.keys() - set(names)
    wrong = {name: message("suppression of magnitudes has no such parameter") for name in unknown}
    zeros = str(given.get("zeros", "published"))
    if zeros != "published" and not (zeros.isdecimal() and 0 < int(zeros) < 10**15):
        wrong["zeros"] = message("published, or by how much a zero has to be uncertain, as a number")
    if given.get("missing", "judged") not in ("judged", "safe"):
        wrong["missing"] = message("choose judged or safe")
    if wrong:
        raise ParameterError(wrong, hint=message("it takes {names}", joined(names, ", ")))
    return given


def _number(name: str, label: str, help_: str) -> Parameter[object]:
    return Parameter(name, label, help_, "real", NUMBERS[name], low=0.0, high=1e9)


SUMS_METHODS: Mapping[str, SumsMethod] = {
    one.name: one
    for one in (
        SumsMethod(
            "suppression",
            message("Suppression"),
            message(
                "Hides what tells too much of one contributor, and as little else as protects it. All "
                "other sums stay exact."
            ),
            SUPPRESSION,
            _suppression,
        ),
        SumsMethod(
            "multiplicative_noise",
            message("Multiplicative noise"),
            message(
                "Multiplies what each contributor puts in by a secret factor near 1, the same every "
                "year. Everything is published and adds up; no sum is exact."
            ),
            (
                Parameter(
                    "least",
                    message("Least distance from 1"),
                    message("A factor is never nearer to 1 than this."),
                    "real",
                    0.05,
                    low=0.0,
                    high=1.0,
                ),
                Parameter(
                    "most",
                    message("Largest distance from 1"),
                    message("A factor is never further from 1 than this."),
                    "real",
                    0.15,
                    low=0.0,
                    high=1.0,
                ),
                Parameter(
                    "shape",
                    message("Shape"),
                    message("How distances between the two ends are drawn."),
                    "choice",
                    "uniform",
                    choices={"uniform": message("all alike"), "ramp": message("small ones more often")},
                ),
            ),
            MultiplierLaw.of,
        ),
        SumsMethod(
            "cell_key",
            message("Cell keys"),
            message(
                "Adds noise to each sum that follows from its contributors: the same sum is the same in "
                "every table. Sums do not add up exactly."
            ),
            (
                _number("D", message("Largest noise"), message("In steps of the share below.")),
                _number("V", message("Variance of the noise"), message("In such steps, squared.")),
                _number("small", message("Share for small contributions"), message("Of a contribution.")),
                _number("large", message("Share for large contributions"), message("Of a contribution.")),
                _number("extra", message("More for unsafe sums"), message("In units of the sum.")),
            ),
            KeyNoise.of,
        ),
    )
}
"""The methods by name, the usual one first."""


def sums_method(name: str) -> SumsMethod:
    """A method by name.

    Raises
    ------
    ParameterError
        Naming what there is.
    """
    if name not in SUMS_METHODS:
        raise ParameterError(
            {"method": message("{method} does not protect magnitudes", repr(name))},
            hint=message("choose {names}", joined(SUMS_METHODS, ", ")),
        )
    return SUMS_METHODS[name]
