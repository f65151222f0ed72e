"""Several methods and settings side by side on one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tabprotect.engine.assessment.comparing.compare import RUNS
from tabprotect.engine.assessment.comparing.compare import compare as run_comparison
from tabprotect.engine.assessment.comparing.comparison import RISK, UTILITY
from tabprotect.engine.assessment.comparing.comparison import Comparison as Findings
from tabprotect.engine.assessment.comparing.run_spec import Comparing, parse_spec
from tabprotect.engine.errors import ParameterError, about
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.languages.messages import message
from tabprotect.library.arguments.asking import asks, taken
from tabprotect.library.shown.frames import Framed, made
from tabprotect.library.table import Table, check_table

if TYPE_CHECKING:
    from typing import Unpack

    from matplotlib.axes import Axes

    from tabprotect.library.arguments.keywords import ComparingKeywords


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Framed):
    """The figures of many runs of several methods. CONFIDENTIAL: it depends on the original.

    Attributes
    ----------
    findings
        The same as the engine holds it.
    kind
        What data frames come back as.

    See Also
    --------
    compare

    Examples
    --------
    >>> import tabprotect as tp
    >>> table = tp.read_table("example:duncan-roehrig-4x4")
    >>> tp.compare(table, ["random_rounding base=3"], runs=1, measures=["mean_absolute_deviation"])
    Comparison(1 configurations)
    """

    findings: Findings = field(repr=False)
    kind: str

    @property
    def configurations(self) -> tuple[str, ...]:
        """Return what was compared, in order."""
        return tuple(c.label for c in self.findings.configurations)

    def __repr__(self) -> str:
        return f"Comparison({len(self.configurations)} configurations)"

    def to_frame(self, kind: str | None = None, *, runs: bool = True) -> Any:
        """A row for each run, or with ``runs=False`` the mean over the runs of a configuration.

        ``error`` says why a run, or the first that failed of a configuration, has no figures.

        Examples
        --------
        >>> import tabprotect as tp
        >>> table = tp.read_table("example:duncan-roehrig-4x4")
        >>> found = tp.compare(
        ...     table, ["random_rounding base=3"], runs=2, measures=["mean_absolute_deviation"]
        ... )
        >>> found.to_frame("dict")["run"]
        [0, 1]
        """
        found, names = self.findings, [m.name for m in self.findings.measures]
        columns: dict[str, list[object]]
        if runs:
            columns = {
                "configuration": [self.configurations[r.configuration] for r in found.runs],
                "run": [r.number for r in found.runs],
                **{n: [r.values[n] for r in found.runs] for n in names},
                "error": [r.error or None for r in found.runs],
            }
        else:
            columns = {"configuration": list(self.configurations)}
            for name in names:
                spreads = [summary[name] for summary in found.summaries]
                columns[name] = [None if s is None else s.mean for s in spreads]
            errors = {r.configuration: r.error for r in reversed(found.runs) if r.error}
            if errors:
                columns["error"] = [errors.get(k) for k in range(len(self.configurations))]
        return made({n: np.array(v, dtype=object) for n, v in columns.items()}, kind or self.kind)

    def plot(self, *, risk: str | None = None, utility: str | None = None, ax: Axes | None = None) -> Axes:
        """The risk-utility map with matplotlib. CONFIDENTIAL.

        Parameters
        ----------
        risk, utility
            Measures; by default the window's, else the first of each that was computed.
        ax
            Where to draw; by default a figure of its own.

        Raises
        ------
        InputError
            Where matplotlib is not installed (``tabprotect[plots]``), and for a measure that was not
            computed.

        Examples
        --------
        >>> import tabprotect as tp
        >>> table = tp.read_table("example:duncan-roehrig-4x4")
        >>> found = tp.compare(table, ["random_rounding base=3"], runs=1)
        >>> ax = found.plot()  # doctest: +SKIP
        """
        # Late: scripts that draw nothing do not wait for it.
        from tabprotect.library.shown import plotting

        chosen = [
            given or self._measure(noun, usual)
            for given, noun, usual in ((risk, "risk", RISK), (utility, "utility", UTILITY))
        ]
        ax = plotting.axes(ax)
        plotting.risk_utility_map(ax, self.findings, chosen[0], chosen[1])
        return ax

    def _measure(self, noun: str, usual: str) -> str:
        names = [m.name for m in self.findings.measures if m.noun == noun]
        return usual if usual in names or not names else names[0]


@asks(Comparing)
def compare(
    table: Table,
    configurations: Sequence[str],
    *,
    runs: int = RUNS,
    progress: Progress = SILENT,
    **asked: Unpack[ComparingKeywords],
) -> Comparison:
    """Release a table many times by several methods, and judge all releases alike.

    Parameters
    ----------
    configurations
        Methods with parameters, such as ``"cell_key D=5 V=3"``.
    runs
        Runs of each.
    **asked

    See Also
    --------
    protect, methods

    Examples
    --------
    >>> import tabprotect as tp
    >>> table = tp.read_table("example:duncan-roehrig-4x4")
    >>> found = tp.compare(
    ...     table, ["random_rounding base=3"], runs=2, seed=1, measures=["mean_absolute_deviation"]
    ... )
    >>> found.configurations
    ('random_rounding base=3',)
    """
    check_table(table)
    if table.history.project.measure == "magnitudes":
        raise ParameterError(
            {"table": message("holds magnitudes: what is compared here are counts")},
            hint=message("compare methods for magnitudes by tabprotect compare FILE, or compare its counts"),
        )
    wrong = [type(one).__name__ for one in configurations if not isinstance(one, str)]
    if wrong or isinstance(configurations, str):
        raise ParameterError(
            {"configurations": message("must be a list of texts, is {kind}", *wrong[:1] or ["str"])},
            hint=message("for example [{text}]", repr("cell_key D=5 V=3")),
        )
    wanted = taken(Comparing, asked)
    with about(runs_per_method="runs"):
        found = run_comparison(
            table.history.project.problem,
            [spec for text in configurations for spec in parse_spec(text)],
            wanted,
            runs_per_method=runs,
            progress=progress,
        )
    return Comparison(found, table.kind)
