"""The law of cyclic perturbation by brute force: every coin on every table, nothing of the engine."""

from __future__ import annotations

from collections.abc import Sequence

Counts = tuple[int, ...]
Cycle = dict[int, int]
"""Flat cell -> +1 or -1."""


def law(
    original: Counts, cycles: Sequence[Cycle], rule: str, alpha: float = 0.25, beta: float = 0.25
) -> dict[Counts, float]:
    """P(published | original) after one pass."""
    out = {original: 1.0}
    for cycle in cycles:
        after: dict[Counts, float] = {}
        for table, chance in out.items():
            for sign, share in ((1, alpha), (-1, beta), (0, 1 - alpha - beta)):
                moved = list(table)
                for cell, entry in cycle.items():
                    moved[cell] += sign * entry
                blocked = min(moved) < 0
                if rule == "any_zero":
                    blocked = any(table[cell] == 0 for cell in cycle)
                found = table if blocked else tuple(moved)
                after[found] = after.get(found, 0.0) + chance * share
        out = after
    return out


def backward(
    published: Counts, cycles: Sequence[Cycle], rule: str, chances: tuple[float, float], most: int
) -> dict[Counts, float] | None:
    """P(published | original) after one pass, for every original; ``None`` where over ``most``."""
    later = {published: 1.0}
    for cycle in reversed(cycles):
        before: dict[Counts, float] = {}
        for table in later:
            for sign in (0, 1, -1):
                moved = list(table)
                for cell, entry in cycle.items():
                    moved[cell] -= sign * entry
                found = tuple(moved)
                if min(found) < 0 or found in before:
                    continue
                outcomes = law(found, [cycle], rule, *chances)
                chance = sum(p * later.get(after, 0.0) for after, p in outcomes.items())
                if chance:
                    before[found] = chance
        if len(before) > most:
            return None
        later = before
    return later


def beliefs(laws: dict[Counts, dict[Counts, float]]) -> dict[Counts, dict[Counts, float]]:
    """P(original | published) under equal weights of the listed originals."""
    out: dict[Counts, dict[Counts, float]] = {}
    for original, outcomes in laws.items():
        for published, chance in outcomes.items():
            out.setdefault(published, {})[original] = chance
    for weights in out.values():
        total = sum(weights.values())
        for original in weights:
            weights[original] /= total
    return out


def marginal(weights: dict[Counts, float], cell: int) -> dict[int, float]:
    """The distribution of one cell."""
    out: dict[int, float] = {}
    for original, weight in weights.items():
        out[original[cell]] = out.get(original[cell], 0.0) + weight
    return out
