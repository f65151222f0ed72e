"""What an intruder knows of a person, and what they want to know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tabprotect.engine.errors import ParameterError
from tabprotect.engine.tables.domain import Domain
from tabprotect.languages.messages import message


@dataclass(frozen=True)
class Key:
    """The key variables and the sensitive one.

    Attributes
    ----------
    variables
        The key variables; none when there is no other than the sensitive one.
    sensitive
    """

    variables: tuple[str, ...]
    sensitive: str

    @classmethod
    def of(cls, domain: Domain, variables: Sequence[str] | None, sensitive: str | None) -> Key:
        """Complete a choice: the last variable that is no key is sensitive, the others are keys.

        Raises
        ------
        ParameterError
            For a variable the table does not have, or one that is both.
        """
        wrong = {}
        for name in variables or ():
            if name not in domain.names:
                wrong["key"] = message("the table has no variable {name}", repr(name))
        if sensitive is not None and sensitive not in domain.names:
            wrong["sensitive"] = message("the table has no variable {sensitive}", repr(sensitive))
        elif variables is not None and sensitive in variables:
            wrong["sensitive"] = message("{sensitive} is a key variable", repr(sensitive))
        left = [name for name in domain.names if name not in (variables or ())]
        if not wrong and sensitive is None and not left:
            wrong["key"] = message("no variable is left to be sensitive")
        if wrong:
            raise ParameterError(wrong, hint=message("there are {names}", ", ".join(domain.names)))
        chosen = left[-1] if sensitive is None else sensitive
        if variables is None:
            variables = tuple(name for name in domain.names if name != chosen)
        return cls(tuple(n for n in domain.names if n in variables), chosen)
