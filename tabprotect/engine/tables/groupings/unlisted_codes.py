"""Codes of the data that a code list lacks: what becomes of each is for a person to say.

A mapping says it: code -> another code that it is counted as, itself for a category of its own, or an
empty text where its records are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import takewhile
from pathlib import Path

from tabprotect.engine.errors import InputError
from tabprotect.languages.messages import joined, message, plural

LEFT_OUT = ""
"""Target of codes whose records are left out."""

SHOWN = 8


class UnlistedError(InputError):
    """Codes of the data are not in the list, and nobody has said what becomes of them.

    Attributes
    ----------
    variable
    codes
        Those of the data.
    listed
        Those of the list.
    """

    def __init__(self, variable: str, codes: Sequence[str], listed: Collection[str], file: Path) -> None:
        self.variable, self.codes, self.listed = variable, tuple(codes), tuple(listed)
        first, near = codes[0], nearest_code(codes[0], self.listed)
        super().__init__(
            plural(
                len(codes),
                "{variable}: {n} code of the data is not in the list: {codes}",
                "{variable}: {n} codes of the data are not in the list: {codes}",
                variable,
                len(codes),
                joined(map(repr, codes[:SHOWN]), ", ") + (", ..." if len(codes) > SHOWN else ""),
            ),
            file=file,
            cell=message("({name}: {value})", variable, first),
            hint=message(
                'say of each what it is: --map "{variable}:{first}={near}", or ={first2} for a category '
                "of its own, or = with nothing behind to leave its records out; or add it to the list",
                variable,
                first,
                near,
                first,
            ),
        )


def nearest_code(code: str, listed: Iterable[str]) -> str:
    """The listed code that begins most like a code, of several the nearest in order."""
    known = sorted(listed)
    after = sum(other < code for other in known)
    near = known[max(after - 1, 0) : after + 1]

    def alike(other: str) -> int:
        signs = takewhile(lambda pair: pair[0] == pair[1], zip(other, code, strict=False))
        return sum(1 for _ in signs)

    return max(near, key=alike, default="")


def counted_as(
    variable: str, codes: Iterable[str], listed: Collection[str], mapping: Mapping[str, str], file: Path
) -> dict[str, str]:
    """Code -> the code that it is counted as; codes that are left out have none.

    Parameters
    ----------
    listed
        The codes of the list; those that the data lack stay unused.
    mapping
        What was said of codes; what it says of others than ``codes`` has no effect.

    Raises
    ------
    UnlistedError
        For codes of which nothing was said.
    InputError
        For a code that is mapped to one that is neither listed nor its own.
    """
    found, unlisted = {}, []
    for code in codes:
        to = mapping.get(code)
        if to is None:
            if code in listed:
                found[code] = code
            else:
                unlisted.append(code)
        elif to in listed or to == code:
            found[code] = to
        elif to != LEFT_OUT:
            raise InputError(
                message("{variable}: {code} is mapped to {to}, which the list lacks",
                    variable, repr(code), repr(to)),
                file=file,
                hint=message("name a code of the list, for example {near}", nearest_code(to, listed)),
            )  # fmt: skip
    if unlisted:
        raise UnlistedError(variable, unlisted, listed, file)
    return found
