"""The tables that other services' clients see: the whole one, and each sub-table that is out.

All of it is public: what is offered is a function of what has been decided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from tabprotect.engine.formats.agencies.sdmx_identifiers import identified, structure_id
from tabprotect.engine.query_space.frontier import maximal_queries
from tabprotect.engine.query_space.lattice import Query, names_joined
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.variable import Variable
from tabprotect.languages.messages import message
from tabprotect.server.api import identified as known_visitor
from tabprotect.server.api import permitted
from tabprotect.server.asked_table import CONTENTS, AskedTable
from tabprotect.server.openapi import FILE
from tabprotect.server.problems import Code, HttpProblem
from tabprotect.server.protocols.selection import place_of, selected
from tabprotect.server.served_table import Given, ServedTable
from tabprotect.server.server import server_of

GROUPING = "agg_"
"""Before the name of a level, as the identifier of a code list."""

MOST_TOLD = 50
"""Released sub-tables that a refusal names; the rest is at the frontier."""

REFUSED: tuple[Code, ...] = (
    "invalid_query",
    "not_out",
    "too_many_cells",
    "disallowed_variable",
    "unknown_table",
    "not_found",
    "not_acceptable",
)
"""With what a selection may be refused."""

FIGURES = ("count", "lower", "upper", "estimate")
"""What each number of a perturbed table may have beside it."""

SENT = {200: FILE, 304: None}
"""With what it is answered."""


@dataclass(frozen=True)
class Selected:
    """The selection of one variable in a request.

    Attributes
    ----------
    expressions
        Selection expressions; none: the variable is summed over.
    code_list
        The level whose groups they name; empty: the values themselves.
    single
        Whether the values of these groups are shown instead of the groups.
    """

    variable: str
    expressions: tuple[str, ...]
    code_list: str = ""
    single: bool = False


@dataclass(frozen=True)
class ListedVariable:
    """A variable as clients see it: its values, and its coarser levels as code lists."""

    name: str
    finest: Variable
    levels: tuple[Variable, ...] = ()

    def chosen(self, code_list: str) -> Variable:
        """The variable at the level that a code list names."""
        if not code_list:
            return self.finest
        bare = code_list.removeprefix(GROUPING)
        for level in (*self.levels, self.finest):
            if bare in (level.name, level.finest):
                return level
        raise HttpProblem(
            "invalid_query", message("{name} has no code list {text}", repr(self.name), repr(code_list[:40]))
        )


@dataclass(frozen=True)
class ListedTable:
    """A table of the catalogue: the whole one (``query`` is ``None``), or a sub-table that is out.

    ``figures`` are those that each count may have beside it; none where every number is true.
    """

    id: str
    label: str
    variables: tuple[ListedVariable, ...]
    query: Query | None = None
    figures: tuple[str, ...] = ()

    def variable(self, name: str) -> ListedVariable:
        """A variable by its name, as it is written or in letters of the other case."""
        place = place_of([variable.name for variable in self.variables], name)
        if place is None:
            raise HttpProblem("invalid_query", message("there is no variable {name}", repr(name[:40])))
        return self.variables[place]


def catalogue(served: ServedTable) -> list[ListedTable]:
    """Every table: the whole one first, then what is out, in the order in which it was decided."""
    bundles = served.refresh().bundles
    return [whole(served), *(_sub_table(served, query) for query in bundles if query)]


def whole(served: ServedTable) -> ListedTable:
    """The table of which sub-tables may be asked for, with what is offered of it."""
    offered = {variable.name: variable for variable in served.offered}
    variables = []
    for variable in served.domain.variables:
        found = [offered[n] for n in (*variable.named, variable.name) if n in offered]
        if found:
            variables.append(ListedVariable(variable.name, found[-1], tuple(found[:-1])))
    doubted = served.state.perturbed and CONTENTS not in served.domain.names
    return ListedTable(served.id, served.label, tuple(variables), figures=FIGURES if doubted else ())


def _sub_table(served: ServedTable, query: Query) -> ListedTable:
    names = served.lattice.names_of(query)
    domain = served.domain.project(names)
    label = message("{label}: {names}", served.label, names_joined(names, ", "))
    variables = tuple(ListedVariable(v.name, v) for v in domain.variables)
    return ListedTable(flow_id(domain), label, variables, query)


def flow_id(domain: Domain) -> str:
    """The identifier of a sub-table, the one of its data structure in SDMX."""
    return structure_id(identified(domain)[0])


def listed_table(served: ServedTable, name: str) -> ListedTable:
    """A table by its identifier.

    Raises
    ------
    HttpProblem
        ``unknown_table``.
    """
    if name == served.id:
        return whole(served)
    for table in catalogue(served):
        if table.id == name:
            return table
    raise HttpProblem("unknown_table", message("there is no table {id}", repr(name[:40])))


def asked_of(
    served: ServedTable, table: ListedTable, selections: Sequence[Selected], order: Sequence[str] = ()
) -> AskedTable:
    """Return what a selection asks for; variables without values are summed over.

    Without any selection that is the sub-table with the most variables that is out.
    """
    used = [said for said in selections if said.expressions]
    if table.figures and (contents := [one for one in used if one.variable.lower() == CONTENTS.lower()]):
        chosen = [place for one in contents for place in selected(table.figures, one.expressions)]
        others = [one for one in used if one not in contents]
        wanted = asked_of(
            served, replace(table, figures=()), others, [one for one in order if one != CONTENTS]
        )
        return replace(wanted, figures=tuple(table.figures[place] for place in sorted({*chosen})))
    if not used:
        query = _default(served, table)
        own = served.lattice.names_of(query) if table.query is None else ()
        variables = served.domain.variables
        bases = {n: variables[served.domain.place(n)[0]].name for n in own}
        return AskedTable(query, called={n: base for n, base in bases.items() if n != base})
    names: list[str] = []
    shown: dict[str, tuple[int, ...]] = {}
    called: dict[str, str] = {}
    for said in used:
        variable = table.variable(said.variable)
        level = variable.chosen(said.code_list)
        places = selected(level.categories, said.expressions)
        if said.single and level is not variable.finest:
            places, level = _members(variable.finest, level, places), variable.finest
        if not places:
            raise HttpProblem("invalid_query", message("no value of {name} is selected", repr(variable.name)))
        if level.name in shown or variable.name in called.values():
            raise HttpProblem(
                "invalid_query", message("the variable {name} is named twice", repr(variable.name))
            )
        names.append(level.name)
        shown[level.name] = places
        if level.name != variable.name:
            called[level.name] = variable.name
    laid = tuple(_laid_out(table, name, names, called) for name in order)
    return AskedTable(served.lattice.query(names), shown, called, tuple(dict.fromkeys(laid)))


def _laid_out(table: ListedTable, name: str, names: Sequence[str], called: Mapping[str, str]) -> str:
    """The name in the answered sub-table of a variable that is to stand first."""
    wanted = table.variable(name).name
    found = next((own for own in names if called.get(own, own) == wanted), None)
    if found is None:
        raise HttpProblem("invalid_query", message("{name} is summed over", repr(wanted)))
    return found


def _members(finest: Variable, level: Variable, places: Sequence[int]) -> tuple[int, ...]:
    """The places of the values that are in some groups of a level."""
    groups = {level.categories[place] for place in places}
    grouping = next(g for g in finest.coarser if g.name == level.finest)
    return tuple(n for n, group in enumerate(grouping.groups) if group in groups)


def _default(served: ServedTable, table: ListedTable) -> Query:
    if table.query is not None:
        return table.query
    out = [query for query in served.refresh().bundles if query]
    if not out:
        # Nothing is out yet: whatever is asked for is not.
        return served.lattice.query([variable.finest.name for variable in table.variables])
    return max(out, key=lambda query: len(served.lattice.names_of(query)))


async def what_is_out(request: Request, wanted: AskedTable) -> Given:
    """The answer to a request that decides nothing.

    Raises
    ------
    HttpProblem
        ``not_out``, with the parts that are out and the request by which it may be asked for.
    """
    known_visitor(request)
    served = server_of(request).table
    await permitted(request, wanted)
    given = await run_in_threadpool(served.out, wanted.query)
    if given is not None:
        return given
    state, names = served.state, served.lattice.names_of
    parts = maximal_queries(member & wanted.query for member in state.releases.released)
    closed = wanted.query in state.refused or state.frozen
    ask = {
        "method": "POST",
        "href": f"/tables/{served.id}/queries",
        "body": {"variables": list(names(wanted.query))},
    }
    detail = (
        message("this sub-table is not released")
        if closed
        else message("nobody has asked for this sub-table yet: ask by POST, as application/json")
    )
    raise HttpProblem(
        "not_out",
        detail,
        more={
            "variables": list(names(wanted.query)),
            "permanent": closed,
            "projection": [list(names(part)) for part in parts if part],
            "released": [list(names(q)) for q in state.releases.released if q][:MOST_TOLD],
            **({} if closed else {"ask": ask}),
        },
    )
