"""Discrete Gaussian noise: whole-number noise with thin tails, for differential privacy.

Published is the true count plus noise z, drawn with probability proportional to exp(-r z^2), a
normal law on the whole numbers with sigma^2 = 1 / (2 r). The budget rho is shared out evenly: with
k published tables each has r = rho / k, because a record counts once in each of them. Numbers
that are the same sum of inner cells get the same noise. Zeros get noise as well, but for structural
ones (where nobody can be is public), published counts can be negative, and totals do not add up.

What is promised: rho-zero-concentrated differential privacy for one record more or less, whatever
anybody knows beside. It implies (epsilon, delta) for every delta, with epsilon = rho + 2 sqrt(rho
ln(1 / delta)): rho = 0.5 gives epsilon = 5.8 for delta = 1e-6. Many tables cost less than with
discrete Laplace noise. With a cap noise beyond it is drawn again, and a count just that far away
can be ruled out: rho says nothing of that. The comparison measures epsilon and delta of the law as
it is, capped or not.

What is not promised: that nothing is learned about people. What holds of a group is learned with or
without one of its records, and a group of g records is protected by g^2 rho only. Each further
release of the same records adds its rho. A person with several records counts as a group. The draws
are exact, from a stream made for cryptography (ChaCha20): the promise is as good as that stream,
and its seed must stay in the house. One draw is made, and the gate looks at nothing but that draw:
that it left or was refused is within the promise, and spends the budget either way. What the agency
sees before it publishes (the trial runs, the comparison) and a person's decision not to publish are
outside of it.

The posterior is exact: cell by cell where inner cells alone are published, by all published sums
where totals are. Without a cap it takes noise of a probability below 1e-15 as impossible.

Example: with rho = 0.5 and one published table sigma is 1: a count of 3 is published as 3 with
probability 0.40, as 2 or 4 with 0.24 each, and as 0 or 6 with 0.004 each.

Sources: Canonne, Kamath and Steinke 2020; Bun and Steinke 2016.
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.parameters import Parameter
from tabprotect.engine.protection.private_noise.integer_sampler import discrete_gaussian
from tabprotect.engine.protection.private_noise.noisy_counts import CAP, NoiseLaw, NoisyCounts
from tabprotect.engine.protection.subtables import GROUPINGS, MARGINS
from tabprotect.engine.release.privacy import Spent
from tabprotect.languages.messages import message

RHO: Parameter[float] = Parameter(
    "rho",
    message("Rho"),
    message("The budget of all published tables together: smaller is safer and noisier."),
    "real",
    0.5,
    low=0.0001,
    high=100.0,
)


class DiscreteGaussian(NoisyCounts):
    """Discrete Gaussian noise: registered as ``discrete_gaussian``."""

    name = "discrete_gaussian"
    label = message("Discrete Gaussian noise")
    trial_work = 10.0
    judged_up_to = 10_000
    budget = RHO
    power = 2
    parameters = (RHO, CAP, MARGINS, GROUPINGS)

    def spent(self, law: NoiseLaw, margins: int) -> Spent:
        """Rho; with a cap epsilon and delta, as no rho holds then.

        Between noise z and z - 1, both within the cap, the logs differ by at most share * (2 cap - 1).
        """
        if law.cap is None:
            return Spent(rho=float(law.share * margins))
        return Spent(float(law.share * margins * (2 * law.cap - 1)), law.ruled_out(margins))

    def noise(self, generator: np.random.Generator, law: NoiseLaw, size: int) -> Ints:
        """Algorithm 3 of Canonne, Kamath and Steinke."""
        return discrete_gaussian(generator, 1 / (2 * law.share), size, law.cap)


PLUGIN = DiscreteGaussian()
