"""Published margins that cannot both be sums of one table."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from tabprotect.engine.arrays import Floats
from tabprotect.engine.tables.publication import Publication

CLOSE = 0.01
"""Values may have been written with few decimals."""


def contradiction(publication: Publication, values: Floats) -> str:
    """Two margins and the count they disagree on, in words; empty where all agree.

    Parameters
    ----------
    values : (published,)
    """
    close = max(CLOSE, 1e-9 * float(np.abs(values).max(initial=0.0)))
    parts = [part.reshape(-1) for part in publication.split(values)]
    for one, other in combinations(range(len(parts)), 2):
        a, b = publication.margins[one], publication.margins[other]
        both = [n for n in a if publication.determines(b, [n])]
        both += [n for n in b if publication.determines(a, [n]) and n not in both]
        shared = Publication.of(publication.domain, [both], publication.groupings)
        into = shared.keys(0)
        sums = []
        for m in (one, other):
            coarse = np.zeros(len(parts[m]), dtype=np.int64)
            coarse[publication.keys(m)] = into
            sums.append(np.bincount(coarse, parts[m], minlength=shared.size))
        off = np.abs(sums[0] - sums[1])
        worst = int(np.argmax(off))
        if off[worst] > close:
            return (
                f"the margins {_said(a)} and {_said(b)} contradict each other: "
                f"{shared.cell_text(worst)} is {sums[0][worst]:g} in one and "
                f"{sums[1][worst]:g} in the other"
            )
    return ""


def _said(margin: tuple[str, ...]) -> str:
    return ":".join(margin) or "grand total"
