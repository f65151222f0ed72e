"""The prior of somebody who knows in which cells nobody can be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.posterior.prior import Prior
from tabprotect.engine.tables.domain import Domain


@dataclass(frozen=True, eq=False)
class KnowingZeros(Prior):
    """Another prior, restricted by the structural zeros, which everybody knows.

    Attributes
    ----------
    prior
    domain
        The domain whose structural zeros apply.
    """

    prior: Prior
    domain: Domain

    @property
    def label(self) -> str:
        return self.prior.label

    def alike(self, keys: Ints) -> Ints:
        # The numbers need not be consecutive.
        return self.prior.alike(keys) * 2 + self.domain.structural_cells(keys)

    def support(self, keys: Ints) -> tuple[Ints, Ints]:
        low, high = self.prior.support(keys)
        return low, np.where(self.domain.structural_cells(keys), 0, high)

    def _log_weight(self, keys: Ints, values: Ints) -> Floats:
        nobody = self.domain.structural_cells(keys.reshape(-1)).reshape(keys.shape)
        log = self.prior.log_weight(keys, values)
        return np.where(nobody, np.where(values == 0, 0.0, -np.inf), log)
