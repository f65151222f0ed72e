"""What a posterior or a verdict leaves out, by kind: no kind of it is a pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, get_args

from tabprotect.languages.messages import joined, message

Omission = Literal[
    "joint_noise", "pattern_choice", "key_algebra", "attempts", "other_releases", "simulation", "contributors"
]
"""The kinds by the names that mechanisms and verdicts state."""

KINDS: tuple[Omission, ...] = get_args(Omission)

SAID: Mapping[Omission, str] = {
    "joint_noise": message("what the tables tell together"),
    "pattern_choice": message("what the choice of the published numbers tells"),
    "key_algebra": message("that the keys of totals are sums of keys"),
    "attempts": message("what earlier tries of the method tell"),
    "other_releases": message("what earlier releases tell together with this one"),
    "simulation": message("what could only be simulated or bounded"),
    "contributors": message("contributors who were not tried as readers, alone or together"),
}
"""The kinds in words, as parts of a sentence."""


def listed(left_out: Iterable[Omission]) -> str:
    """The kinds in words, as part of a sentence."""
    return joined((SAID[kind] for kind in left_out), ", ")


def kinds(*of: Iterable[str]) -> tuple[Omission, ...]:
    """All kinds that are named, each once, in the order of :data:`KINDS`."""
    named = {kind for some in of for kind in some}
    return tuple(kind for kind in KINDS if kind in named)
