"""What the query-space page shows while sub-tables are still being looked at."""

from __future__ import annotations

from itertools import combinations

from tabprotect.engine.project.history import History
from tabprotect.engine.project.releasing.query_space_state import released_set
from tabprotect.engine.project.verbs.query_verbs import set_release_plan
from tabprotect.engine.project.verbs.table_verbs import open_table
from tabprotect.gui.lattice.space import UNKNOWN, Regions, _SoFar
from tabprotect.gui.lattice.words import region_text, state_sentence


class _Heard:
    def __init__(self) -> None:
        self.partials: list[Regions] = []

    def report(self, stage: str, fraction: float, partial: object = None) -> None:
        if isinstance(partial, Regions) and all(partial is not p for p in self.partials):
            self.partials.append(partial)


def test_what_is_proved_comes_before_everything_is() -> None:
    opened, _ = History().do(open_table(source="example:czech-autoworkers"))
    pairs = [list(pair) for pair in combinations("ABCDEF", 2)]
    planned, _ = opened.do(set_release_plan(margins=pairs))
    heard = _Heard()
    state = released_set(planned.project, _SoFar(planned.project, heard))
    first = heard.partials[0]
    # Nothing of the empty plan that it began with, and nothing that is not so in the end.
    assert all(each.state.released == state.released for each in heard.partials)
    assert not set(first.state.allowed.tolist()) - set(state.allowed.tolist())
    waiting = int(first.by_dimension.sum(axis=1)[UNKNOWN])
    assert waiting > state.undecided
    assert f". {waiting} are still being looked at." in state_sentence(first)
    assert region_text(first, UNKNOWN) == "still being looked at"
