"""What somebody alone in a cell learns, in figures. Public: a function of the release alone."""

from __future__ import annotations

from dataclasses import dataclass

from tabprotect.engine.encoding import Encodable
from tabprotect.engine.release.findings import Finding
from tabprotect.engine.release.limits import ROUNDING, Limits
from tabprotect.languages.messages import in_100


@dataclass(frozen=True)
class Insiders(Encodable):
    """The chance that somebody alone in an inner cell learns another at-risk count.

    Who is alone in a cell knows that it holds 1. With b a reader's posterior of an inner cell i,
    somebody alone there learns if another inner cell has an at-risk count that is believed with more
    than the limit given that i holds 1, and not without.

    Attributes
    ----------
    alone
        The expected number of inner cells that hold one person; ``None`` if that is not known.
    chance
        The chance that one of these learns: the sum of b_i(1) over cells where somebody would, by
        the sum over all. ``None`` where nobody is expected to be alone, or it is not known.
    worst
        The highest chance with which a single cell holds somebody who learns; ``None`` as above.
    exact
        Whether all originals were looked at; drawn ones otherwise.
    """

    alone: float | None
    chance: float | None = None
    worst: float | None = None
    exact: bool = True
    json_keys = "chance worst"

    @property
    def unknown(self) -> bool:
        """True if somebody may be alone, and what they learn is not known."""
        return self.chance is None and self.alone != 0.0

    def fails(self, limits: Limits) -> bool:
        """True if the limits judge it, and it is beyond them."""
        return self.chance is not None and self.chance > limits.insider_limit + ROUNDING

    def findings(self, limits: Limits) -> tuple[Finding, ...]:
        """The chance, with its limit where it is beyond it; nothing where it is not known or none."""
        if not self.chance or self.alone is None:
            return ()
        values = {"n": round(self.alone), "chance": in_100(self.chance)}
        if self.fails(limits):
            return (Finding("insiders_beyond", "failed", values | {"limit": in_100(limits.insider_limit)}),)
        return (Finding("insiders" if self.alone >= 0.5 else "insiders_unlikely", values=values),)


NOT_LOOKED_AT = Insiders(None)
"""Of a verdict that leaves insiders out."""
