"""Fields that ask for a declared option: named, explained and filled as it says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeVar

from PySide6.QtWidgets import QComboBox, QWidget

from tabprotect.engine.options import Option
from tabprotect.gui.look.buttons import choice, named
from tabprotect.gui.look.label import tip

Widget = TypeVar("Widget", bound=QWidget)


def asks_for(widget: Widget, option: Option) -> Widget:
    """The widget with the name and the help of an option."""
    return named(widget, option.label, tip=tip(option.sentence))


def option_choice(
    option: Option,
    changed: Callable[[], object] | None = None,
    *,
    words: Mapping[str, str] = MappingProxyType({}),
    wide: int | None = None,
) -> QComboBox:
    """A box with every choice of an option, the default chosen.

    Parameters
    ----------
    changed, wide
        As of :func:`~tabprotect.gui.look.buttons.choice`.
    words
        What some are called where room is short; the meaning is then their tip.
    """
    meanings = option.offered
    offered = meanings | {value: said for value, said in words.items() if value in meanings}
    tips = {value: meaning for value, meaning in meanings.items() if offered[value] != meaning}
    return asks_for(
        choice(offered=offered, changed=changed, current=option.default, tips=tips, wide=wide), option
    )
