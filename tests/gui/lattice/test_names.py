"""What the nodes of a lattice are called."""

from __future__ import annotations

from tabprotect.engine.query_space.lattice import Lattice
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.variable import Variable
from tabprotect.gui.lattice.names import VariableLetters


def called(*names: str) -> list[str]:
    lattice = Lattice.of(Domain(tuple(Variable(name, ("a", "b")) for name in names)))
    letters = VariableLetters.of(lattice)
    return [letters.node(query) for d in range(len(names) + 1) for query in lattice.level(d)]


def test_names_where_they_fit_letters_where_not() -> None:
    assert called("sex", "age", "work") == [
        *("total", "sex", "age", "work"),
        *("sex \u00d7 age", "sex \u00d7 work", "age \u00d7 work", "sex \u00d7 age \u00d7 work"),
    ]
    long = called("occupation of the person", "region")
    assert long == ["total", "A", "B", "AB"]
