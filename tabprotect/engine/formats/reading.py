"""How a table file is to be read, as one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from typing import Any

from tabprotect.engine.errors import InputError


def _option(default: Any, *, help: str, metavar: str = "", remedy: str = "") -> Any:
    return field(default=default, metadata={"help": help, "metavar": metavar, "remedy": remedy})


@dataclass(frozen=True)
class Reading:
    """Options of reading a table. What is ``None`` is found out.

    Each field is an option of the command line, an argument of the command ``open_table`` and of
    the library: what they say of it stands here and nowhere else.

    Raises
    ------
    InputError
        For a value that cannot be meant.
    """

    strip_totals: bool = _option(
        False, help="take out total rows after checking them", remedy="Open without the totals"
    )
    fill_missing: bool = _option(
        False, help="take cells that are not listed as 0", remedy="Take missing cells as 0"
    )
    count: str | None = _option(None, help="the column of the counts", metavar="COLUMN")
    encoding: str | None = _option(
        None, help="of a text file that is not UTF-8, such as cp1252", metavar="NAME"
    )
    delimiter: str | None = _option(
        None, help="between fields, where it cannot be told", metavar="CHARACTER"
    )
    decimal: str | None = _option(
        None, help="the mark before decimals, which settles what 1,000 means", metavar=". OR ,"
    )

    def __post_init__(self) -> None:
        for option in options():
            value = getattr(self, option.name)
            whether = isinstance(option.default, bool)
            if not (isinstance(value, bool) if whether else value is None or type(value) is str):
                kind = "true or false" if whether else "text"
                raise InputError(f"{option.name} must be {kind}, is {value!r}")
        if self.decimal not in (None, ".", ","):
            raise InputError(
                f"the decimal mark cannot be {self.decimal!r}", hint='it is "." or ","'
            )
        if self.delimiter is not None and len(self.delimiter) != 1:
            raise InputError(
                f"the delimiter cannot be {self.delimiter!r}", hint="it is one character"
            )

    @classmethod
    def of(cls, given: Mapping[str, object]) -> Reading:
        """From a recipe or another shell; options that are not named keep their default.

        Raises
        ------
        InputError
            For an unknown option, or a value that cannot be meant.
        """
        known = [option.name for option in options()]
        for name in given:
            if name not in known:
                raise InputError(
                    f"there is no option {name!r} of reading a table",
                    hint=f"there are {', '.join(known)}",
                )
        return cls(**given)  # type: ignore[arg-type]

    @property
    def given(self) -> dict[str, object]:
        """The options that are not as they are by default."""
        return {
            option.name: value
            for option in options()
            if (value := getattr(self, option.name)) != option.default
        }


def options() -> tuple[Field[Any], ...]:
    """The options with their help (``metadata``), in the order in which they are shown."""
    return fields(Reading)
