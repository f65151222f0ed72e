"""Discrete Laplace noise: every published count gets whole-number noise, for differential privacy.

Published is the true count plus noise z, drawn with probability proportional to exp(-e |z|). The
budget epsilon is shared out evenly: with k published tables each has e = epsilon / k, because a
record counts once in each of them. Numbers that are the same sum of inner cells get the same noise.
Zeros get noise as well, but for structural ones (where nobody can be is public), published counts
can be negative, and totals do not add up.

What is promised: any release is at most e^epsilon times as probable with a record as without it,
whatever anybody knows beside. With a cap noise beyond it is drawn again; then the promise holds but
for a probability of about k times that of noise at the cap, because a count just that far away can
be ruled out.

What is not promised: that nothing is learned about people. What holds of a group is learned with or
without one of its records, and a group of g records is protected by g epsilon only. Each further
release of the same records adds its epsilon. A person with several records counts as a group. The
draws are exact, from a stream made for cryptography (ChaCha20): the promise is as good as that
stream, and its seed must stay in the house. One draw is made, and the gate looks at nothing but
that draw: that it left or was refused is within the promise, and spends the budget either way. What
the agency sees before it publishes (the trial runs, the comparison) and a person's decision not to
publish are outside of it.

The posterior is exact: cell by cell where inner cells alone are published, by all published sums
where totals are. Without a cap it takes noise of a probability below 1e-15 as impossible.

Example: with epsilon = 1 and one published table a count of 3 is published as 3 with probability
0.46, as 2 or 4 with 0.17 each, and as 0 or 6 with 0.02 each.

Sources: Ghosh, Roughgarden and Sundararajan 2012; Canonne, Kamath and Steinke 2020.
"""

from __future__ import annotations

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.parameters import Parameter
from tabprotect.engine.protection.private_noise.integer_sampler import discrete_laplace
from tabprotect.engine.protection.private_noise.noisy_counts import CAP, NoiseLaw, NoisyCounts
from tabprotect.engine.protection.subtables import GROUPINGS, MARGINS
from tabprotect.engine.release.privacy import Spent
from tabprotect.languages.messages import message

EPSILON: Parameter[float] = Parameter(
    "epsilon",
    message("Epsilon"),
    message("The budget of all published tables together: smaller is safer and noisier."),
    "real",
    1.0,
    low=0.0001,
    high=100.0,
)


class DiscreteLaplace(NoisyCounts):
    """Discrete Laplace noise: registered as ``discrete_laplace``."""

    name = "discrete_laplace"
    label = message("Discrete Laplace noise")
    trial_work = 8.0
    judged_up_to = 10_000
    budget = EPSILON
    power = 1
    parameters = (EPSILON, CAP, MARGINS, GROUPINGS)

    def spent(self, law: NoiseLaw, margins: int) -> Spent:
        """Epsilon; delta 0 without a cap."""
        return Spent(float(law.share * margins), law.ruled_out(margins))

    def noise(self, generator: np.random.Generator, law: NoiseLaw, size: int) -> Ints:
        """Algorithm 2 of Canonne, Kamath and Steinke."""
        return discrete_laplace(generator, 1 / law.share, size, law.cap)


PLUGIN = DiscreteLaplace()
