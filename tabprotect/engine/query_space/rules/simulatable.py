"""Simulatable: decide from what is released alone, so that a refusal tells nothing.

Anybody could make each decision themselves: originals that agree with everything released are
drawn, each as likely as any other, with coins that the released counts decide; the query is refused
when it would be too risky, by the criterion and threshold of the service, for more than a share
delta of them. What the original is beyond the released counts changes no answer. Two prices: a
release may be one that the criterion would have refused, had it looked; and small tables release
little or nothing (of 2 x 2 x 2 tables of 12 people nothing at delta up to one half). Originals are
drawn for tables of up to 4,096 cells; in larger ones everything is refused.

Source: Kenthapadi, Mishra and Nissim, Denials leak information: simulatable auditing, Journal of
Computer and System Sciences 79, 2013.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from tabprotect.engine.errors import InfeasibleError, InputError
from tabprotect.engine.parameters import Parameter, Values
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.query_space.criterion_evidence import Evidence
from tabprotect.engine.query_space.drawn_originals import drawn_originals
from tabprotect.engine.query_space.rule import ReleaseRule, Ruling, Situation
from tabprotect.languages.messages import message

DELTA: Parameter[float] = Parameter(
    "delta",
    message("Share delta"),
    message("Refuse when the release would tell too much for more than this share of the originals."),
    "real",
    0.1,
    low=0.0,
    high=1.0,
)

DRAWS: Parameter[int] = Parameter(
    "draws",
    message("Originals"),
    message("How many originals are drawn and judged."),
    "integer",
    40,
    low=10,
    high=10_000,
)


class Simulatable(ReleaseRule):
    """The rule whose decisions anybody could make from what is released."""

    name: ClassVar[str] = "simulatable"
    label: ClassVar[str] = message("Decide from what is released alone")
    parameters: ClassVar[tuple[Parameter[object], ...]] = (DELTA, DRAWS)
    simulatable: ClassVar[bool] = True

    def decide(self, situation: Situation, values: Values, progress: Progress = SILENT) -> Ruling:
        state, query = situation.state, situation.query
        refused = message(
            "not released: it would tell too much of the tables that agree with what is released"
        )
        cells = state.evidence.cells
        try:
            originals = drawn_originals(cells.table, cells.lattice, state.released, values[DRAWS], progress)
        except InfeasibleError as error:
            return Ruling("refuse", refused, error.message)
        after = state.released.add(query).members
        bad = 0
        for original in originals:
            try:
                evidence = Evidence.gather(original, cells.at_risk, cells=cells.judged)
            except InputError:
                # No cell is at risk in this one.
                continue
            judged = replace(state.standard, evidence=evidence).judge(after, decide_only=True)
            bad += judged.verdict != "safe"
        share = bad / len(originals)
        detail = message(
            "it would tell too much for {share:.3f} of {originals} originals", share, len(originals)
        )
        if share > values[DELTA]:
            return Ruling("refuse", refused, detail)
        return Ruling("release", "released", detail)


PLUGIN = Simulatable()
