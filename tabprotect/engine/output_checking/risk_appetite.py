"""The rules of a project's output checking, from a file beside its tables: its risk appetite.

The keys are those of ACRO and SACRO (``safe_threshold``, ``zeros_are_disclosive``, ...), as TOML, or as
YAML with one ``key: value`` a line, so that one file serves both programs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from tabprotect.engine.errors import InputError, ParameterError, in_file
from tabprotect.engine.output_checking.flags_and_decisions import CheckRules
from tabprotect.engine.paths import is_file, read_text
from tabprotect.engine.plain_values.decoding import FieldsError, decoded, parsed_toml
from tabprotect.languages.messages import message

NAMES = ("risk_appetite.toml", "risk_appetite.yaml", "risk_appetite.yml")
"""What the file is called, beside the table; the first that is there counts."""

LONGEST = 100_000

NK, PRATIO = (2, 0.9), 0.1
"""ACRO's own limits: the two largest hold 90 in 100; the others a tenth of the largest."""


@dataclass(frozen=True, kw_only=True)
class RiskAppetite:
    """The limits of a project.

    Attributes
    ----------
    safe_threshold
        Counts from 1 up to below it are flagged.
    zeros_are_disclosive
        Whether empty cells are flagged.
    full_groups
        Whether cells that hold everybody of their line are flagged; a key of this program.
    safe_nk_n, safe_nk_k
        The so many largest contributors hold more than this share of a sum.
    safe_pratio_p
        Contributors but the two largest hold less than this share of the largest.
    safe_dof_threshold, check_missing_values, survival_safe_threshold
        Of regressions, records and survival: they say nothing of a table.
    """

    safe_threshold: int = 10
    zeros_are_disclosive: bool = False
    full_groups: bool = True
    safe_dof_threshold: int | None = None
    safe_nk_n: int | None = None
    safe_nk_k: float | None = None
    safe_pratio_p: float | None = None
    check_missing_values: bool | None = None
    survival_safe_threshold: int | None = None

    @property
    def rules(self) -> CheckRules:
        """The rules of a table of counts."""
        return CheckRules(self.safe_threshold, self.zeros_are_disclosive, self.full_groups)

    @property
    def rules_of_sums(self) -> dict[str, tuple[str, str]]:
        """The rules of a table of sums by ACRO's names, as written and in words; unsaid ones are ACRO's own."""

        def said(given: float | None, usual: float) -> float:
            return usual if given is None else given

        largest, share = said(self.safe_nk_n, NK[0]), said(self.safe_nk_k, NK[1])
        ratio = f"{100 * said(self.safe_pratio_p, PRATIO):g}"
        return {
            "nk-rule": (
                f"dominance={largest:g},{100 * share:g}",
                message(
                    "the {n} largest hold more than {k} in 100 of the sum", f"{largest:g}", f"{100 * share:g}"
                ),
            ),
            "p-ratio": (
                f"p={ratio}",
                message("all but the two largest hold less than {p} in 100 of the largest", ratio),
            ),
        }

    def idle(self, *, sums: bool) -> tuple[str, ...]:
        """The keys that are set and say nothing of a table of counts, or of sums."""
        ours: tuple[str, ...] = ("safe_threshold", "zeros_are_disclosive", "full_groups")
        ours += ("safe_nk_n", "safe_nk_k", "safe_pratio_p") if sums else ()
        return tuple(
            one.name for one in fields(self) if one.name not in ours and getattr(self, one.name) is not None
        )


def beside(source: str) -> Path | None:
    """The file of rules beside a table or a project; ``None`` where there is none."""
    folder = Path(source).parent
    return next((folder / name for name in NAMES if is_file(folder / name)), None)


def read(path: Path) -> RiskAppetite:
    """Read a file of rules.

    Raises
    ------
    InputError
        When it cannot be read, with the line that is no ``key: value``.
    ParameterError
        With every key that is unknown or has a wrong value.
    """
    with in_file(path):
        text = read_text(path, most=LONGEST)
        given = parsed_toml(text, "rules") if path.suffix == ".toml" else _lines(text)
        try:
            return decoded(given, RiskAppetite)
        except FieldsError as error:
            known = ", ".join(one.name for one in fields(RiskAppetite))
            raise ParameterError(
                error.fields, hint=message("the keys of {file} are {known}", path.name, known)
            ) from None


def _lines(text: str) -> Mapping[str, object]:
    found: dict[str, object] = {}
    for number, line in enumerate(text.splitlines(), 1):
        said = line.partition("#")[0].strip()
        if not said or said == "---":
            continue
        key, sign, value = (part.strip() for part in said.partition(":"))
        if not sign or not value or key in found:
            raise InputError(
                message("not one 'key: value' a line"),
                line=number,
                hint=message("for example: safe_threshold: 10"),
            )
        found[key] = _value(value)
    return found


def _value(text: str) -> object:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
