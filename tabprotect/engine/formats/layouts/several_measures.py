"""Files that hold several measures (persons, per cent): a table is made of one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tabprotect.engine.errors import InputError
from tabprotect.engine.formats.reading_options import Reading


def chosen_measures(
    axes: Sequence[int],
    names: Sequence[str],
    categories: Sequence[tuple[str, ...]],
    reading: Reading,
) -> Mapping[int, int]:
    """Which category of each variable of measures is read: the one that ``count`` names, or the only.

    Raises
    ------
    InputError
        Where it cannot be told, with the measures.
    """
    found = {}
    for axis in axes:
        known = categories[axis]
        if reading.count in known:
            found[axis] = known.index(str(reading.count))
        elif len(known) == 1:
            found[axis] = 0
        else:
            shown = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
            raise InputError(
                f"the variable {names[axis]!r} holds {len(known)} measures: {shown}",
                hint="say which of them is the count: --count NAME",
            )
    if reading.count is not None and all(reading.count not in categories[axis] for axis in axes):
        raise InputError(
            f"there is no measure {reading.count!r}", hint="leave the option count out"
        )
    return found
