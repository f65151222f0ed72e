"""Whether the people of a table are counted in earlier releases, as the house says. Confidential."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from tabprotect.engine.errors import ParameterError
from tabprotect.languages.messages import message

Kin = Literal["other", "same", "part", "corrected", "later"]
"""Other people; the same; some of the same (or all of whom some were counted before); the same with
mistakes mended; the same some time later, when some have come and some have gone."""


@dataclass(frozen=True)
class People:
    """Answers of the house to the question who is counted in a table.

    Attributes
    ----------
    answers
        The number of an earlier release and the answer; 0 stands for all that none names.
    """

    answers: tuple[tuple[int, Kin], ...] = ()

    @classmethod
    def parse(cls, given: str) -> People:
        """Read answers such as ``other`` and ``part:1 later:3,4``.

        Raises
        ------
        ParameterError
            If there is no such answer, or a number is none.
        """
        found: dict[int, Kin] = {}
        for text in given.split():
            kin, _, of = text.partition(":")
            numbers = [0] if not of else [int(n) if n.isdecimal() else -1 for n in of.split(",")]
            if kin not in KINDS or min(numbers) < 0 or (not of and kin not in ("other", "same")):
                raise ParameterError(
                    {
                        "people": message(
                            "is one of other, same, part:NO, corrected:NO and later:NO, where NO is the number of "
                            "an earlier release; not {text}",
                            repr(text),
                        )
                    }
                )
            found |= dict.fromkeys(numbers, kin)
        return cls(tuple(sorted(found.items())))

    def check(self, known: Iterable[int]) -> None:
        """Refuse answers about releases that have nothing in common with a table.

        Parameters
        ----------
        known
            The numbers of the earlier releases that may count the same people.

        Raises
        ------
        ParameterError
            Naming the first.
        """
        wrong = sorted({number for number, _ in self.answers} - {0, *known})
        if wrong:
            raise ParameterError(
                {
                    "people": message(
                        "no. {number} is no earlier release of a table that has a variable in common with this one",
                        wrong[0],
                    )
                }
            )

    def of(self, number: int) -> Kin | None:
        """The answer about an earlier release; ``None`` where the house has given none."""
        known = dict(self.answers)
        return known.get(number, known.get(0))

    def __str__(self) -> str:
        return " ".join(kin if not number else f"{kin}:{number}" for number, kin in self.answers)


KINDS: tuple[Kin, ...] = get_args(Kin)
