"""What may be asked of a design of cycles."""

from __future__ import annotations

from dataclasses import dataclass

from tabprotect.engine.cycles.constructions.triangular import TriangularSettings
from tabprotect.engine.cycles.designs import DESIGNS
from tabprotect.engine.errors import about
from tabprotect.engine.options import Options, option_field
from tabprotect.languages.messages import joined, message


@dataclass(frozen=True, kw_only=True)
class Keeping(Options):
    """Return what cycles keep."""

    keep: str | None = option_field(
        None,
        library=False,
        metavar="FORMULA",
        help=message("the margins to keep, for example geo + region*age"),
    )
    groupings: str = option_field(
        "", needs="keep", metavar="TEXT|FILE", help=message("of categories, for the formula")
    )
    zeros: str | None = option_field(
        None, file=True, metavar="FILE", help=message("cells that are empty whatever the data are")
    )


@dataclass(frozen=True, kw_only=True)
class Designing(Keeping):
    """A design of cycles, with its parameters."""

    kind: str = option_field(
        "default",
        metavar="KIND",
        help=message("{DESIGNS}, or order-R (keeps the R-way margins only)", joined(DESIGNS, ", ")),
    )
    height: int | None = option_field(
        None, needs="kind=strips", metavar="H", help=message("of strips: rows of a block")
    )
    repeats: int = option_field(1, metavar="K", help=message("each cycle K times in place"))
    cap: int | None = option_field(
        None, needs="kind=triangular", help=message("of triangular: touches to stay below (4)")
    )
    weight: float | None = option_field(
        None,
        shell="--lambda",
        needs="kind=triangular",
        metavar="LAMBDA",
        help=message("of triangular: what a cell that may be zero costs (4)"),
    )
    theta: float | None = option_field(
        None, needs="kind=triangular", help=message("of triangular: how much counts spread (1)")
    )

    @property
    def settings(self) -> TriangularSettings:
        """Those of ``triangular``."""
        stated = {name: getattr(self, name) for name in ("cap", "weight", "theta")}
        with about(**{"lambda": "weight"}):
            return TriangularSettings(**{name: value for name, value in stated.items() if value is not None})

    @property
    def parameters(self) -> dict[str, int]:
        """Those of the template."""
        return {"repeats": self.repeats} | ({} if self.height is None else {"height": self.height})
