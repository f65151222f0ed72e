"""A measure of risk or utility: one file in ``risk/`` or ``utility/`` that declares itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Literal

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.figure import Figure, NotComputable
from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.engine.registry import Documented
from tabprotect.languages.messages import message, prose

Noun = Literal["risk", "utility"]
Direction = Literal["higher is better", "lower is better"]
Over = Literal["published cells", "inner cells", "key groups"]

NEEDS: Mapping[str, str] = MappingProxyType(
    {
        "restored": message("The published counts made additive"),
        "expected": message("The inner cells that the published counts suggest"),
        "key": message("Key variables and a sensitive one"),
        "posterior": message("The posterior of the true counts"),
        "weights": message("The design weights of the original"),
        "second_release": message("A second release of the same table by the same method"),
    }
)
"""The needs of measures, by name."""


class Measure(Documented, Encodable, ABC):
    """Base of all measures. The module's docstring defines the figure, or ``text``.

    Attributes
    ----------
    name, label
        The registered name (that of the file), and the name for people.
    unit
        Of the value: ``"share"``, ``"probability"``, ``"counts"``, ...
    direction
        Which way a release is better for the agency.
    noun
        What it measures.
    needs
        Names of ``NEEDS``.
    over
        What ``Figure.per_cell`` is laid out over.
    text
        The definition, where a file has several measures.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    unit: ClassVar[str]
    direction: ClassVar[Direction]
    noun: ClassVar[Noun]
    needs: ClassVar[tuple[str, ...]] = ()
    over: ClassVar[Over] = "published cells"
    text: ClassVar[str] = ""
    json_keys = "name label noun unit direction needs over help"

    @abstractmethod
    def compute(self, case: AssessedRelease) -> Figure:
        """The figure of one release.

        Raises
        ------
        NotComputable
            When there is none.
        """

    def assess(self, case: AssessedRelease) -> Figure:
        """The figure, or the reason why there is none."""
        try:
            return self.compute(case)
        except NotComputable as nothing:
            return Figure(None, reason=str(nothing))

    @property
    def higher_is_better(self) -> bool:
        """Return True if a larger value is the better release."""
        return self.direction == "higher is better"

    @property
    def help(self) -> str:
        """The definition (plain text)."""
        return prose(self.text.strip()) if self.text else super().help
