"""Small counts: a count from one number to another is sensitive.

Written ``1..2``, or ``3`` for one count alone; from 0 up where it tells something that nobody is in a
cell. It is a rule, and no list of cells: intruders may know it.
"""

from __future__ import annotations

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.sensitivity.rule import CountRule
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.languages.messages import message


class SmallCounts(CountRule):
    name = "small_counts"
    label = message("Small counts")
    examples = ("1..2", "3")

    def sensitive(self, counts: Ints, written: str) -> Bools:
        return SmallCount.parse(written).mask(counts)


PLUGIN = SmallCounts()
