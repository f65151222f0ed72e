"""Myopic: release whatever is wide enough now.

First come, first served: simple and open, but an early release can close off many later ones.

Source: Dobra, Karr, Sanil and Fienberg 2002, section 3.
"""

from __future__ import annotations

from typing import ClassVar

from tabprotect.engine.parameters import Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.rule import ReleaseRule, Ruling, Situation
from tabprotect.languages.messages import message


class Myopic(ReleaseRule):
    """The rule that releases whatever is wide enough now."""

    name: ClassVar[str] = "myopic"
    label: ClassVar[str] = message("Release whatever is wide enough now")

    def decide(self, situation: Situation, values: Values, progress: Progress = SILENT) -> Ruling:
        return Ruling("release", "released")


PLUGIN = Myopic()
