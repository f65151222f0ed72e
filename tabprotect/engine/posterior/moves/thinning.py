"""Groups that cannot block are split, so that fewer cycles are connected."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tabprotect.engine.arrays import Floats, Ints, Shorts
from tabprotect.engine.cycles.graphs import components
from tabprotect.engine.cycles.signatures import Signatures
from tabprotect.engine.posterior.moves.signature_model import GroupModel, over_groups


@dataclass(frozen=True, eq=False)
class Thinned:
    """A model whose non-blocking groups are split where their cycles are otherwise unconnected.

    A group whose smallest count exceeds its reach can never have been zero on the way, so under a
    uniform prior no factor depends on it; only its change is read off. Without such groups fewer
    cycles are connected, and posteriors become exact that would otherwise be too wide. Only published
    counts are looked at, so which groups are left out is public too.

    Attributes
    ----------
    model
        The model over the parts of the original groups.
    starts : int64 (groups + 1,)
        Original group g is the parts ``starts[g]:starts[g + 1]``: their changes add up.
    dropped
        Number of groups that cannot block.
    """

    model: GroupModel
    starts: Ints
    dropped: int

    @classmethod
    def of(cls, model: GroupModel) -> Thinned | None:
        """Return ``None`` if every group can block, or the prior is not uniform."""
        relevant = model.relevant
        if relevant.all():
            return None
        sig = model.signatures
        group = sig.groups
        blocking = relevant[group]
        owners = group[blocking]
        begin = np.searchsorted(owners, np.unique(owners))
        spans = np.diff(np.r_[begin, len(owners)])
        heads = np.repeat(sig.cycles[blocking][begin], spans)
        label = components(heads, sig.cycles[blocking], len(model.moves))
        # Touches sorted by group, then by component, otherwise in their given order.
        owner = np.where(blocking, -1, label[sig.cycles])
        order = np.lexsort((np.arange(len(group)), owner, group))
        cut = np.r_[True, (np.diff(group[order]) != 0) | (np.diff(owner[order]) != 0)]
        begin = np.flatnonzero(cut)
        starts = np.r_[begin, len(order)].astype(np.int64)
        of_part = group[order][begin]
        parts = Signatures(
            group_of_cell=sig.group_of_cell,
            first_cell=sig.first_cell[of_part],
            starts=starts,
            cycles=sig.cycles[order],
            signs=sig.signs[order],
        )
        thin = replace(
            model,
            moves=over_groups(model.moves, parts),
            signatures=parts,
            lowest=model.lowest[of_part],
            reach=np.diff(starts) * model.passes * model.repeats,
        )
        first_part = np.searchsorted(of_part, np.arange(len(sig) + 1)).astype(np.int64)
        return cls(thin, first_part, int((~relevant).sum()))

    def changes(self, parts: Floats) -> Floats:
        """The distribution of each group's change from those of its independent parts.

        float64 (groups, 2 span + 1).
        """
        span = self.model.span
        out = parts[self.starts[:-1]].copy()
        lengths = np.diff(self.starts)
        for extra in range(1, int(lengths.max(initial=1))):
            rows = np.flatnonzero(lengths > extra)
            for row in rows.tolist():
                both = np.convolve(out[row], parts[self.starts[row] + extra])
                out[row] = both[span : span + 2 * span + 1]
        return out

    def draws(self, parts: Shorts) -> Shorts:
        """The changes of the groups from draws of their parts, (draws, groups)."""
        return np.add.reduceat(parts, self.starts[:-1], axis=1, dtype=parts.dtype)
