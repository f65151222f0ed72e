"""The likelihood of margins protected one by one, as factors of the inner cells' sums."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tabprotect.engine.release.likelihood import CellFactors, Rerun
from tabprotect.engine.release.release import PublishedTable
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table


def product_over_margins(
    publication: Publication,
    tables: tuple[PublishedTable, ...],
    parts: Sequence[CellFactors],
    *,
    note: str = "",
) -> CellFactors:
    """The product of the margins' likelihoods, each part over the cells of one margin.

    A cell of a margin is a sum of inner cells, so a sum of a margin's cells is a sum of inner cells.
    """
    starts, cells = [np.zeros(1, dtype=np.int64)], []
    kind, kinds, logs = [], 0, 0
    log_starts = [np.zeros(1, dtype=np.int64)]
    for m, part in enumerate(parts):
        keys = publication.keys(m)
        order = np.argsort(keys, kind="stable")
        ends = np.searchsorted(keys[order], np.arange(part.domain.size + 1)).astype(np.int64)
        lengths = (ends[1:] - ends[:-1])[part.cells]
        # Position of every inner cell of every entry: its margin cell's begin, then onwards.
        before = np.cumsum(lengths) - lengths
        at = np.arange(int(lengths.sum())) - np.repeat(before - ends[part.cells], lengths)
        cells.append(order[at])
        reached = np.concatenate([[0], np.cumsum(lengths)])[part.starts[1:]]
        starts.append(starts[-1][-1] + reached)
        kind.append(part.kind + kinds)
        log_starts.append(logs + part.log_starts[1:])
        kinds += len(part.low)
        logs += len(part.logs)
    return CellFactors(
        domain=publication.domain,
        tables=tables,
        starts=np.concatenate(starts),
        cells=np.concatenate(cells),
        kind=np.concatenate(kind),
        low=np.concatenate([part.low for part in parts]),
        high=np.concatenate([part.high for part in parts]),
        log_starts=np.concatenate(log_starts),
        logs=np.concatenate([part.logs for part in parts]),
        rerun=_rerun(publication, parts),
        note=" ".join(filter(None, dict.fromkeys([note, *(part.note for part in parts)]))),
        approximate=any(part.approximate for part in parts),
    )


def _rerun(publication: Publication, parts: Sequence[CellFactors]) -> Rerun | None:
    """The product of the margins' reruns, where any has one."""
    asked = [
        (names, part.rerun, part.rerun.cost_over(part.domain.size))
        for names, part in zip(publication.margins, parts, strict=True)
        if part.rerun is not None
    ]
    if not asked:
        return None

    def estimate(original: Table, generator: np.random.Generator) -> float:
        chance = 1.0
        for names, rerun, _ in asked:
            chance *= rerun.estimate(original.margin(names), generator)
            if chance == 0.0:
                break
        return chance

    return Rerun(
        estimate,
        exact=all(rerun.exact for _, rerun, _ in asked),
        cost=sum(cost for _, _, cost in asked),
        programmes=any(rerun.programmes for _, rerun, _ in asked),
    )
