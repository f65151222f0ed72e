"""How a file of published counts is read."""

from __future__ import annotations

from dataclasses import dataclass

from tabprotect.engine.formats.published_rows import TOTAL
from tabprotect.engine.formats.statuses import COUNT
from tabprotect.engine.options import Options, option_field
from tabprotect.languages.messages import message


@dataclass(frozen=True, kw_only=True)
class PublishedReading(Options):
    """How a file of published counts is read."""

    count: str = option_field(COUNT, metavar="COLUMN", help=message("the column of the counts"))
    total: str = option_field(
        TOTAL, metavar="CODE", help=message("the code of a variable that is summed over")
    )
    groupings: str = option_field(
        "",
        metavar="TEXT",
        help=message("columns that group the codes of others: eu:geo=Spain>EU,Iceland>no, or a file"),
    )
