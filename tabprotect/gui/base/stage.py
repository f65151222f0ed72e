"""What the window knows of a page before building it: its name, when it can be used, its menus."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from tabprotect.gui.base.background.background_task import same
from tabprotect.gui.base.document import Document
from tabprotect.languages.messages import message


@dataclass(frozen=True)
class MenuEntry:
    """An entry of one of the window's menus.

    ``name`` is its name in :meth:`Page.choices`, ``keys`` its shortcut.
    """

    menu: str
    name: str
    text: str
    keys: str = ""
    here: bool = False
    """True if it can be chosen only while the page is in front, because its keys belong to this page."""


HOLDS: Mapping[str, Callable[[Document], bool]] = {
    "open": lambda document: document.project is not None,
    "original": lambda document: document.has_original,
    "release": lambda document: document.has_release,
}
"""What a page may need."""


class Stage:
    """The class attributes of a page that the rail and the menus show.

    A page that is costly to import states them in ``gui/pages/stages.py``, and its page class
    derives from both: ``class CyclesPage(CyclesStage, Page)``.
    """

    name: ClassVar[str]
    page_class: ClassVar[str] = ""
    """The path of the page class below ``tabprotect.gui.pages``, imported when it is first needed."""
    by_measure: ClassVar[bool] = False
    """True if its parts follow from the measure of the table: one page is built for each."""
    any_table: ClassVar[bool] = False
    """True if it is the same whatever is open; else what is not ``by_measure`` is about counts alone."""
    magnitude_entries: ClassVar[frozenset[str]] = frozenset()
    """The menu entries that a magnitude table has, too."""
    label: ClassVar[str]
    icon: ClassVar[str]
    hint: ClassVar[str] = ""
    main_label: ClassVar[str] = ""
    under: ClassVar[str] = ""
    """The entry of the rail that it belongs to; empty for one that is an entry itself."""
    back: ClassVar[str] = ""
    """The page that Esc goes back to, for what was opened over another one."""
    beside: ClassVar[int] = 0
    """Pixels, at normal text, that it is wide beside the table; 0 for a page that has the window."""
    together: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Name and label of each tab, for pages that share the first one's place on the rail."""
    entries: ClassVar[tuple[MenuEntry, ...]] = ()
    """The page's menu entries."""
    needs: ClassVar[Mapping[str, str]] = {"open": message("Open a table first.")}
    """What it cannot be used without, and how that is said."""

    @classmethod
    def why_not(cls, document: Document) -> str:
        """Say why the page cannot be used now, in words; empty if it can."""
        return next((words for need, words in cls.needs.items() if not HOLDS[need](document)), "")

    @classmethod
    def idle(cls, document: Document) -> frozenset[str]:
        """The menu entries that have nothing to work on now, as far as is known before the page is built."""
        return frozenset()

    @classmethod
    def applies(cls, document: Document) -> bool:
        """Return True if it applies to the open project; menus leave out the entries of what does not."""
        return document.project is not None

    @classmethod
    def problems(cls, document: Document) -> int:
        """The number on the rail's badge: how many things here need attention."""
        return 0


@dataclass(frozen=True)
class Standing:
    """The state of a stage for the open project.

    Attributes
    ----------
    why
        Why its page cannot be used now; empty if it can.
    applies
        True if it applies to the open project.
    problems
        How many things here need attention; 0 if the page cannot be used.
    idle
        The menu entries that have nothing to work on, as far as is known before the page is built.
    """

    why: str
    applies: bool
    problems: int
    idle: frozenset[str]


class Standings:
    """The state of every stage; each is worked out once after a change, however many show it."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._of: tuple[object, ...] = ()
        self._known: dict[type[Stage], Standing] = {}

    def __getitem__(self, stage: type[Stage]) -> Standing:
        document = self._document
        judged = document.judging.known(document.project), document.judged_magnitudes.known
        now = (document.project, document.public, *judged)
        if not same(self._of, now):
            self._of, self._known = now, {}
        if stage not in self._known:
            self._known[stage] = self._worked_out(stage)
        return self._known[stage]

    def _worked_out(self, stage: type[Stage]) -> Standing:
        document = self._document
        if document.of_magnitudes and not (stage.by_measure or stage.any_table):
            return Standing(
                message("This is about tables of counts; a magnitude table is open."),
                applies=False,
                problems=0,
                idle=frozenset(),
            )
        why = stage.why_not(document)
        problems = 0 if why else stage.problems(document)
        applies, idle = stage.applies(document), stage.idle(document)
        if document.of_magnitudes and stage.by_measure:
            idle |= {entry.name for entry in stage.entries} - stage.magnitude_entries
        return Standing(why, applies, problems, idle)


def setup_page(document: Document) -> str:
    """The page on which the chosen method is set up and run."""
    project = document.project
    return "perturb" if project is None or project.perturbs else "methods"
