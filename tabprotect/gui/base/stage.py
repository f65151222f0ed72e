"""What the frame knows of a page before the page is built: its name, when it can be used, menus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tabprotect.gui.base.document import Document
from tabprotect.gui.base.question import same
from tabprotect.languages.said import say


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
        return "" if document.project is not None else say("Open a table first.")

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


@dataclass(frozen=True)
class Standing:
    """How a stage stands with what is open.

    Attributes
    ----------
    why
        Why its page cannot be used now; empty where it can.
    applies
        Whether it belongs to what is open.
    problems
        How many things here need a look; none where the page cannot be used.
    idle
        Entries that have nothing to work on, as far as it shows before the page is built.
    """

    why: str
    applies: bool
    problems: int
    idle: frozenset[str]


class Standings:
    """How every stage stands; each is asked once after a change, however many show it."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._of: tuple[object, ...] = ()
        self._known: dict[type[Stage], Standing] = {}

    def __getitem__(self, stage: type[Stage]) -> Standing:
        document = self._document
        now = (document.project, document.public, document.judging.known(document.project))
        if not same(self._of, now):
            self._of, self._known = now, {}
        if stage not in self._known:
            why = stage.why_not(document)
            problems = 0 if why else stage.problems(document)
            applies, idle = stage.applies(document), stage.idle(document)
            self._known[stage] = Standing(why, applies, problems, idle)
        return self._known[stage]


def setup_page(document: Document) -> str:
    """The page that sets up and runs the chosen method."""
    project = document.project
    return "perturb" if project is None or project.takes_cycles else "methods"
