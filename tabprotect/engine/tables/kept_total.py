"""A total that stands beside its table as a published sum of its own, whatever the cells add up to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tabprotect.engine.plain_values.encoding import Encodable


@dataclass(frozen=True)
class KeptTotal(Encodable):
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

    json_keys = "where published inner difference"

    @property
    def difference(self) -> int:
        """How much more was published."""
        return self.published - self.inner
