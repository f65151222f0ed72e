"""What a variable is called by kind, by its missing codes, and by its levels."""

from __future__ import annotations

from tabprotect.engine.tables.groupings.bands import span_of, whole
from tabprotect.engine.tables.groupings.digits import is_code, usual_digits
from tabprotect.engine.tables.groupings.squares import squares_of
from tabprotect.engine.tables.variable import MISSING, Variable
from tabprotect.languages.messages import joined, message, plural

MISSING_CODES = frozenset({"", ".", "..", ":", "-", "na", "n/a", "nan", "missing", "unknown", MISSING})


def missing_codes(variable: Variable) -> tuple[str, ...]:
    """The categories that mean that nothing is known."""
    return tuple(c for c in variable.categories if c.strip().casefold() in MISSING_CODES)


def variable_kind(variable: Variable) -> str:
    """``numbers``, ``bands``, ``codes`` or ``names``; codes with how long they are."""
    missing = missing_codes(variable)
    known = [c for c in variable.categories if c not in missing]
    if squares := squares_of(known):
        return message("squares of {side:g} km", squares[0].side / 1000)
    if usual_digits(known):
        lengths = [len(c) for c in known if is_code(c)]
        least, most = min(lengths), max(lengths)
        if least < most:
            return message("codes of {least} to {most} digits", least, most)
        return plural(most, "codes of {most} digit", "codes of {most} digits", most)
    if known and all(whole(c) is not None for c in known):
        return message("numbers")
    if known and all(span_of(c) is not None for c in known):
        return message("bands")
    short = bool(known) and all(len(c) <= 6 for c in known)
    return message("codes") if short else message("names")


def levels_text(variable: Variable) -> str:
    """``nuts1 > nuts2 > nuts3; coast``."""
    if not variable.coarser:
        return ""
    tree = joined((level.name for level in variable.levels), " \u203a ")
    return joined([tree, *(level.name for level in variable.across)], "; ")
