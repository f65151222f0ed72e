"""How a posterior was found and how exact it is, for every shell."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tabprotect.engine.posterior.agreement import SETTLED
from tabprotect.engine.release.findings import Finding
from tabprotect.languages.messages import in_100, joined, message
from tabprotect.languages.number_formats import NARROW, large

if TYPE_CHECKING:
    from tabprotect.engine.posterior.posterior import Posterior


def how_found(posterior: Posterior, originals: int | None = None) -> Finding:
    """The way and its error, rounded up to whole chances in 100.

    Parameters
    ----------
    originals
        How many originals remain possible; ``None`` while unknown, or too many to count.
    """
    error, r_hat = posterior.error, posterior.r_hat or 0.0
    if posterior.way == "exact":
        whole = "found_exactly" if originals is None else "found_exactly_over"
        kind = "approximated" if posterior.approximate else whole if posterior.complete else "found_in_part"
    elif error is None:
        kind = "simulated"
    elif posterior.independent:
        kind = "estimated_from_draws"
    else:
        kind = "simulated_within" if r_hat <= SETTLED else "simulated_unsettled"
    off = math.ceil(196 * (error or 0.0))
    tables = "" if originals is None else large(originals, NARROW)
    values = {"n": originals, "tables": tables, "drawn": posterior.draws, "off": off, "r_hat": r_hat}
    return Finding(kind, values=values)


def how_right(posterior: Posterior) -> str:
    """How likely small published counts are the true ones, count by count; empty where none is small."""
    each = [
        message("{count}: {chance}", count, in_100(chance))
        for count, (_, chance) in posterior.right().items()
    ]
    return message("Published counts that are true: {each}.", joined(each, ", ")) if each else ""
