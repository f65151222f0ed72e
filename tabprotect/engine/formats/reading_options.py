"""The options of reading a table file, as one value."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from tabprotect.engine.errors import InputError, in_file
from tabprotect.engine.options import Naming, Options, option_field, options_of
from tabprotect.engine.paths import read_text
from tabprotect.engine.plain_values.decoding import parsed_toml
from tabprotect.engine.tables.category_order import ORDER_HELP, ORDERS
from tabprotect.languages.messages import message
from tabprotect.languages.nearest import closest_match

LAID_OUT = ("form", "columns", "header_row", "footer", "comment", "marks", "thousands")
"""The options for laid-out rows, whatever file they come from."""

ANY_FORMAT = frozenset(
    {"strip_totals", "fill_missing", "totals", "tolerance", "missing", "drop", "variable", "label",
     "where", "scale", "strict", "blank", "order"}
)  # fmt: skip
"""The options that apply to every format."""

MISSING = {
    "zero": message("Zero"),
    "structural": message("Impossible: always 0"),
    "suppressed": message("Hidden, worked out from the totals"),
}
"""Meanings of a cell without a count, in words."""

ALL_ADD_UP = message(
    "open the table with its totals stripped (--strip-totals, or --totals auto); or say "
    "that nothing is a total: --totals none"
)
"""What to do where totals are named, and each is the sum of its inner cells: nothing is in doubt."""

TOTALS = {
    "auto": message("Check them and take them out"),
    "recompute": message("Recompute them: the file's are wrong"),
    "keep": message("Keep the file's totals beside the table"),
    "none": message("Nothing is a total"),
}
"""What may be said of totals beside their code."""

HIDDEN = {"read": message("Read them"), "leave-out": message("Leave them out")}
"""What may be said of rows and columns that a sheet hides."""

BLANKS = {"above": message("The same as above"), "missing": message("A category of their own: (missing)")}
"""Meanings of a category without a name."""

CELLS = {
    "n (%)": message("A count, then per cent in brackets"),
    "% (n)": message("Per cent, then a count in brackets"),
    "n/N": message("A count of how many"),
    "n/N (%)": message("A count of how many, then per cent in brackets"),
}
"""What stands in a cell beside its count."""

GROUPED = {
    ".": message("a point"),
    ",": message("a comma"),
    " ": message("a space"),
    "\u00a0": message("a space that does not break"),
    "\u2009": message("a thin space"),
    "\u202f": message("a thin space that does not break"),
    "'": message("an apostrophe"),
    "\u2019": message("a raised comma"),
}
"""Signs between thousands, by what they are called: most of them are hard to tell by sight."""

_SAID = {
    bool: message("true or false"),
    str: "text",
    int: message("a whole number"),
    Sequence: message("a list of names"),
    Mapping: message("one text for each name"),
}
_LINES = re.compile(r"[0-9]{1,7}(-[0-9]{1,7})?")


@dataclass(frozen=True)
class Reading(Options):
    """The options of reading a table. Fields that are ``None`` are found automatically.

    Each field is an option of the command line, an argument of the command ``open_table`` and of the
    library, and is described only here.

    Raises
    ------
    InputError
            For an invalid value.
    """

    # A table of magnitudes is read as its own file says.
    goes_with = "counts"

    strip_totals: bool = option_field(False, help=message("take out total rows after checking them"))
    fill_missing: bool = option_field(
        False,
        label=message("Cells that the file leaves out are 0"),
        help=message("take cells that are not listed as 0"),
    )
    totals: str | None = option_field(
        None,
        label=message("Totals"),
        help=message(
            "the code of totals, which are checked and taken out; auto: find them by arithmetic; "
            "none: nothing is a total; recompute or recompute:CODE: take them out where they do not "
            "add up, too; keep or keep:CODE: beside the table as published sums of their own"
        ),
        metavar="CODE|auto|none|recompute[:CODE]|keep[:CODE]",
        usual=TOTALS,
    )
    tolerance: int | None = option_field(
        None,
        label=message("Accept small gaps up to"),
        help=message("differences of totals up to this are rounding, and the inner cells count"),
        metavar="N",
        low=0,
    )
    missing: str | None = option_field(
        None,
        label=message("Cells without a count are"),
        help=message(
            "what cells without a count are: zero; structural, where nobody can be; suppressed, "
            "which are worked out from the totals where these tell them"
        ),
        choices=MISSING,
    )
    count: str | None = option_field(
        None,
        label=message("Column of the counts"),
        help=message("the column of the counts"),
        metavar="COLUMN",
    )
    drop: Sequence[str] | None = option_field(
        None,
        label=message("Columns left out"),
        help=message("a column to leave out, such as per cent beside the counts"),
        metavar="COLUMN",
        repeated=True,
    )
    variable: Sequence[str] | None = option_field(
        None,
        label=message("Numbers that are a variable"),
        help=message("a column of numbers that is a variable, such as years of age"),
        metavar="COLUMN",
        repeated=True,
    )
    label: Mapping[str, str] | None = option_field(
        None,
        label=message("Columns that name categories"),
        help=message("the column that names the categories of a variable"),
        metavar="COLUMN=VARIABLE",
        naming=Naming(),
    )
    where: Mapping[str, str] | None = option_field(
        None,
        label=message("Only the rows of"),
        help=message("open only the rows of one category, such as one year"),
        metavar="COLUMN=VALUE",
        naming=Naming(),
    )
    scale: int | None = option_field(
        None,
        label=message("Counts are multiplied by"),
        help=message("what counts are multiplied by: 1000 where the file has thousands"),
        metavar="N",
        low=1,
    )
    labels: bool = option_field(
        False,
        label=message("Names and labels"),
        help=message("name categories by their labels, where the file has them beside codes"),
    )
    texts_in: str | None = option_field(
        None,
        label=message("Language of texts"),
        help=message("the language of names and labels where a PX file has several, such as en"),
        metavar="LANGUAGE",
    )
    form: str | None = option_field(
        None,
        label=message("Long or grid"),
        help=message("long: a line for each cell; grid: rows by columns"),
        choices={"long": message("One line for each count"), "grid": message("Columns of counts")},
    )
    columns: str | None = option_field(
        None,
        label=message("Name of the columns' variable"),
        help=message("in a grid, the variable of the columns; of several header rows apart by commas"),
        metavar="NAME",
    )
    sheet: str | None = option_field(
        None,
        label=message("Sheet"),
        help=message("the sheet of a workbook, or the output of ACRO's results, by its name or number"),
        metavar="NAME",
    )
    range: str | None = option_field(
        None, label=message("Range of cells"), help=message("the cells of a sheet"), metavar="B3:F20"
    )
    hidden: str | None = option_field(
        None,
        label=message("Hidden rows and columns"),
        help=message("rows and columns with data that a sheet hides: read, or leave-out"),
        choices=HIDDEN,
    )
    cells: str | None = option_field(
        None,
        label=message("A cell holds"),
        help=message('what cells hold beside the count: "n (%)" for 3 (1.7%)'),
        choices=CELLS,
    )
    blank: str | None = option_field(
        None,
        label=message("Blank labels are"),
        help=message("what a category without a name is: above, the one above it; missing, one of its own"),
        choices=BLANKS,
    )
    order: str | None = option_field(
        None, label=message("Order of categories"), help=ORDER_HELP, choices=ORDERS
    )
    header_row: str | None = option_field(
        None,
        label=message("Header row"),
        help=message("the line (1-based) or lines of the header, such as 4 or 4-5; 0 where there is none"),
        metavar="LINE",
    )
    footer: int | None = option_field(
        None,
        label=message("Lines below the counts"),
        help=message("lines of notes at the end"),
        low=0,
        metavar="LINES",
    )
    comment: str | None = option_field(
        None,
        label=message("Lines of comment begin with"),
        help=message("what lines begin with that are remarks"),
        metavar="TEXT",
    )
    marks: str | None = option_field(
        None,
        label=message("Signs in place of counts"),
        help=message(
            'what stands in place of counts: "-=zero ..=missing blank=zero x=suppressed 0=structural"'
        ),
        metavar="MARK=MEANING",
    )
    encoding: str | None = option_field(
        None,
        label=message("Encoding"),
        help=message("of a text file that is not UTF-8, such as cp1252"),
        metavar="NAME",
        usual={"utf-8": "UTF-8", "cp1252": "Windows 1252", "latin-1": "Latin-1", "utf-16": "UTF-16"},
    )
    delimiter: str | None = option_field(
        None,
        label=message("Separator of columns"),
        help=message("between fields, where it cannot be told"),
        metavar="CHARACTER",
        usual={";": message("semicolon"), ",": message("comma"), "|": message("bar")},
    )
    decimal: str | None = option_field(
        None,
        label=message("Decimal sign"),
        help=message("the mark before decimals, which settles what 1,000 means"),
        metavar=". OR ,",
        choices={".": message("a point"), ",": message("a comma")},
    )
    thousands: str | None = option_field(
        None,
        usual=GROUPED,
        label=message("Thousands sign"),
        help=message("the sign between groups of three digits"),
        metavar="CHARACTER",
    )
    holds: str | None = option_field(
        None,
        label=message("Table or records"),
        help=message("what the file holds, where it cannot be told"),
        choices={"table": message("a count"), "records": message("a person or firm")},
    )
    metadata: str | None = option_field(
        None,
        label=message("File that describes this one"),
        help=message("the file that describes this one, where it is not beside it by its name"),
        metavar="FILE",
    )
    strict: bool = option_field(
        False,
        label=message("Mend nothing"),
        help=message("refuse what would be mended and told: unknown keywords, quotation marks"),
    )

    def __post_init__(self) -> None:
        for name in ("drop", "variable"):
            listed = getattr(self, name)
            if isinstance(listed, str):
                object.__setattr__(self, name, (listed,))
            elif isinstance(listed, list):
                object.__setattr__(self, name, tuple(listed))
        for name in ("header_row", "sheet"):
            number = cast(object, getattr(self, name))
            if isinstance(number, int) and not isinstance(number, bool):
                object.__setattr__(self, name, str(number))
        for one in options_of(Reading):
            value = getattr(self, one.name)
            (kind,) = one.kinds
            fits = type(value) is kind or (kind in (Sequence, Mapping) and _texts(value))
            if not fits and (value is not None or kind is bool):
                raise InputError(
                    message("{name} must be {SAID}, is {value}", one.name, _SAID[kind], repr(value))
                )
            if one.choices is not None and value not in (None, *one.choices):
                said = {"decimal": "decimal mark"}.get(one.name, one.name)
                raise InputError(
                    message("the {said} cannot be {self}", said, repr(value)),
                    hint=message("it is ") + " or ".join(f'"{choice}"' for choice in one.choices),
                )
            if isinstance(value, int) and value < one.low:
                raise InputError(
                    message("{option}: must be at least {least}, is {value}", one.name, one.low, value)
                )
        for name in ("delimiter", "thousands"):
            text = getattr(self, name)
            if text is not None and len(text) != 1:
                raise InputError(
                    message("the {name} cannot be {text}", name, repr(text)),
                    hint=message("it is one character"),
                )
        if self.thousands is not None and self.thousands == self.decimal:
            raise InputError(message("the decimal mark cannot be the sign between thousands, too"))
        if self.header_row is not None and not _LINES.fullmatch(self.header_row):
            raise InputError(
                message("{header_row} are no lines", repr(self.header_row)),
                hint=message("for example 4, or 4-5, or 0 for none"),
            )

    @classmethod
    def of(cls, given: Mapping[str, object]) -> Reading:
        """Make it from a recipe or another shell; options not named keep their defaults.

        ``marks`` may be a table: mark -> meaning.

        Raises
        ------
        InputError
            For an unknown option, or an invalid value.
        """
        names = [one.name for one in options_of(cls)]
        for name in given:
            if name not in names:
                raise InputError(
                    message("there is no option {name} of reading a table", repr(name)),
                    hint=closest_match(name, names) or message("there are {known}", ", ".join(names)),
                )
        where = given.get("where")
        if isinstance(where, Mapping):
            # Years and the like are numbers in a reading file.
            plain = {str(k): str(v) if type(v) is int else v for k, v in where.items()}
            given = {**given, "where": plain}
        if isinstance(marks := given.get("marks"), Mapping):
            written = " ".join(f"{mark or 'blank'}={meaning}" for mark, meaning in marks.items())
            given = {**given, "marks": written}
        return cls(**given)  # type: ignore[arg-type]

    @classmethod
    def file(cls, path: Path) -> dict[str, object]:
        """Read the options from a file (``--reading FILE.toml``).

        Raises
        ------
        InputError
            Naming what cannot be understood.
        """
        with in_file(path):
            return cls.of(parsed_toml(read_text(path, most=2**20), "reading")).given

    @property
    def without_count(self) -> str | None:
        """Say what cells without a count are; ``None`` if it is not said."""
        return "zero" if self.fill_missing and self.missing is None else self.missing

    @property
    def lays_out(self) -> bool:
        """True if the position of the table or the form of its counts is given."""
        return any(getattr(self, name) is not None for name in LAID_OUT)


def _texts(value: object) -> bool:
    """Return True for a list of texts, or texts by name."""
    parts = [*value, *value.values()] if isinstance(value, Mapping) else value
    return isinstance(parts, list | tuple) and all(isinstance(part, str) for part in parts)
