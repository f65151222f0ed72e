"""What the window knows of a page before building it: its name, when it can be used, its menus."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

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
    "house": lambda document: document.project is None or document.has_original,
    "release": lambda document: document.has_release,
    "rule": lambda document: document.magnitudes is None or bool(document.magnitudes.rules),
}
"""What a page may need."""

OPEN = {"open": message("Open a table first.")}
"""What most pages need, and how that is said."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Stage:
    """What the rail and the menus show of a page; stated in ``gui/pages/stages.py`` of those costly to import."""

    name: str
    page_class: str
    """The path of the page class below ``tabprotect.gui.pages``, imported when it is first needed."""
    by_measure: bool = False
    """True if its parts follow from the measure of the table: one page is built for each."""
    any_table: bool = False
    """True if it is the same whatever is open; else what is not ``by_measure`` is about counts alone."""
    magnitude_entries: frozenset[str] = frozenset()
    """The menu entries that a magnitude table has, too."""
    label: str
    icon: str
    hint: str = ""
    main_label: str = ""
    under: str = ""
    """The entry of the rail that it belongs to; empty for one that is an entry itself."""
    back: str = ""
    """The page that Esc goes back to, for what was opened over another one."""
    beside: int = 0
    """Pixels, at normal text, that it is wide beside the table; 0 for a page that has the window."""
    together: tuple[tuple[str, str], ...] = ()
    """Name and label of each tab, for pages that share the first one's place on the rail."""
    entries: tuple[MenuEntry, ...] = ()
    """The page's menu entries."""
    needs: Mapping[str, str] = field(default_factory=lambda: OPEN)
    """What it cannot be used without, and how that is said."""
    refuses: Callable[[Document], str] | None = None
    """Says in words why the page cannot be used now, where what it needs does not say it."""
    idle: Callable[[Document], frozenset[str]] = lambda document: frozenset()
    """The menu entries that have nothing to work on now, as far as is known before the page is built."""
    applies: Callable[[Document], bool] = HOLDS["open"]
    """Whether it applies to the open project; menus leave out the entries of what does not."""
    problems: Callable[[Document], int] = lambda document: 0
    """The number on the rail's badge: how many things here need attention."""

    def why_not(self, document: Document) -> str:
        """Say why the page cannot be used now, in words; empty if it can."""
        if self.refuses is not None:
            return self.refuses(document)
        return next((words for need, words in self.needs.items() if not HOLDS[need](document)), "")


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
        self._known: dict[Stage, Standing] = {}

    def __getitem__(self, stage: Stage) -> Standing:
        document = self._document
        judged = document.judging.known(document.project), document.judged_magnitudes.known
        now = (document.project, document.public, *judged)
        if not same(self._of, now):
            self._of, self._known = now, {}
        if stage not in self._known:
            self._known[stage] = self._worked_out(stage)
        return self._known[stage]

    def _worked_out(self, stage: Stage) -> Standing:
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
