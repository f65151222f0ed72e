"""The menu in which cells are stated that nobody can be in."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu, QPushButton

from tabprotect.engine.tables import structural
from tabprotect.engine.tables.domain import Domain
from tabprotect.gui.look.buttons import connected
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import tr

SHOWN = 60
"""Characters of a statement in the menu."""


class ZerosMenu(QPushButton):
    """``stated`` carries all statements that shall hold, as the command takes them."""

    stated = Signal(list)

    def __init__(self) -> None:
        super().__init__()
        self.setText(tr("Structural zeros"))
        self.setToolTip(
            tr(
                "Cells in which nobody can be: select categories, add them, do the same in another "
                "variable, then state it. They are public."
            )
        )
        self._pending: dict[str, list[str]] = {}
        self._domain: Domain | None = None
        self._variable, self._chosen = "", list[str]()
        self.setMenu(connected(QMenu(self), aboutToShow=self._fill))

    def show_state(self, domain: Domain | None, variable: str, chosen: Sequence[str]) -> None:
        """Show what there is to say it of now."""
        if domain is None or self._domain is None or domain.categories != self._domain.categories:
            self._pending = {}
        self._domain, self._variable, self._chosen = domain, variable, list(chosen)
        self.setEnabled(domain is not None)

    def _fill(self) -> None:
        menu, domain = self.menu(), self._domain
        menu.clear()
        if domain is None:
            return
        named = message("{variable} {chosen}", self._variable, joined(self._chosen, ", "))[:SHOWN]
        add = menu.addAction(tr("{told} {named}", tr("Add"), named), self._add)
        add.setEnabled(bool(self._chosen))
        if self._pending:
            words = joined(
                (message("{n} {c}", n, joined(c, ", ")) for n, c in self._pending.items()), message(" and ")
            )
            menu.addAction(tr("{told}: {words}", tr("Nobody is in"), words[:SHOWN]), self._state)
            menu.addAction(tr("Forget what was added"), self._pending.clear)
        if domain.structural:
            menu.addSeparator()
        for zero in domain.structural:
            connected(
                menu.addAction(tr("{told}: {words}", tr("Let go"), zero.words[:SHOWN])),
                triggered=lambda _=False, z=zero: self._let_go(z),
            )

    def _add(self) -> None:
        self._pending[self._variable] = self._chosen

    def _state(self) -> None:
        assert self._domain is not None
        known = structural.as_json(self._domain.structural)
        made, self._pending = self._pending, {}
        self.stated.emit([*known, made])

    def _let_go(self, zero: structural.StructuralZeros) -> None:
        assert self._domain is not None
        left = [one for one in self._domain.structural if one is not zero]
        self.stated.emit(structural.as_json(left))
