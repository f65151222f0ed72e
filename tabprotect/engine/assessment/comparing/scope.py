"""The scope of a comparison: the published sub-tables, and what an intruder knows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Scope:
    """The part of every release that is compared; ``None`` where it follows from the releases.

    Attributes
    ----------
    margins
        A formula of the published sub-tables: for every method that takes one, and the cells that
        are compared. Without it every method publishes what it publishes, and the cells compared
        are those of every sub-table: what a release does not publish is added up where it can be.
    groupings
        For use in the formula.
    key, sensitive
        What an intruder knows and wants to know; by default the last variable is sensitive and the
        others are the key.
    """

    margins: str | None = None
    groupings: str | None = None
    key: tuple[str, ...] | None = None
    sensitive: str | None = None


EVERYTHING = Scope()
"""Whatever is published; every variable but the last one is known."""
