"""What the frame knows of a page before the page is built: its name, when it can be used, menus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tabprotect.gui.base.document import Document


@dataclass(frozen=True)
class MenuEntry:
    """An entry of a menu: File, Edit, Data, Protect, Check, Release, View or Help.

    ``name`` is what :meth:`Page.choices` calls it, ``keys`` its shortcut.
    """

    menu: str
    name: str
    text: str
    keys: str = ""
    here: bool = False
    """Whether it can be chosen only while the page is in front: its keys mean this page."""


class Stage:
    """Class attributes of a page that the rail and the menus show.

    A page that is costly to import states them in ``gui/pages/stages.py``, and its page class
    derives from both: ``class CyclesPage(CyclesStage, Page)``.
    """

    name: ClassVar[str]
    page_class: ClassVar[str] = ""
    """Where its page is, below ``tabprotect.gui.pages``: imported when it is first needed."""
    label: ClassVar[str]
    icon: ClassVar[str]
    hint: ClassVar[str] = ""
    main_label: ClassVar[str] = ""
    aside: ClassVar[bool] = False
    """Whether it stands beside the river: below the rail's divider."""
    under: ClassVar[str] = ""
    """The stage that it is a step of: it stands under that one, indented, while it applies."""
    together: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Pages that share one place on the rail, the first one's: name and label of each tab."""
    entries: ClassVar[tuple[MenuEntry, ...]] = ()
    """The page's entries of the menus."""

    @classmethod
    def why_not(cls, document: Document) -> str:
        """Why the page cannot be used now, in words; empty when it can."""
        return "" if document.project is not None else "Open a table first."

    @classmethod
    def idle(cls, document: Document) -> frozenset[str]:
        """Entries that have nothing to work on now, as far as it shows before the page is built."""
        return frozenset()

    @classmethod
    def applies(cls, document: Document) -> bool:
        """Whether a step belongs to what is open: the rail leaves out those that do not."""
        return document.project is not None

    @classmethod
    def problems(cls, document: Document) -> int:
        """The number on the rail's badge: how many things here need a look."""
        return 0


def setup_page(document: Document) -> str:
    """The page that sets up and runs the chosen method."""
    project = document.project
    return "perturb" if project is None or project.takes_cycles else "methods"
