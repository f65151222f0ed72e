"""A total that stands beside its table as a published sum of its own, whatever the cells add up to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class KeptTotal:
    """A total that stands beside its table as a published sum of its own. Confidential like the table.

    Attributes
    ----------
    where
        The categories of the variables that it is not summed over.
    published
        The number in the file.
    inner
        The sum of its inner cells.
    """

    where: Mapping[str, str]
    published: int
    inner: int

    def as_json(self) -> dict[str, object]:
        """Return it with its difference, as ``describe --json`` prints it."""
        return {
            "where": dict(self.where),
            "published": self.published,
            "inner": self.inner,
            "difference": self.published - self.inner,
        }
