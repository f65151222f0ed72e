"""What the rail and the menus show of every stage, in the order of the river.

The pages themselves are imported when they are first needed: the first paint does not wait for them.
"""

from __future__ import annotations

from tabprotect.gui.base.document import Document
from tabprotect.gui.base.stage import MenuEntry, Stage
from tabprotect.gui.grid.cell_texts import FIGURES

PROTECT_TABS = (("protect", "Choose"), ("compare", "Compare"))
"""The pages of Protect."""


class TableStage(Stage):
    """The table and its margins."""

    name = "table"
    page_class = "table.page.TablePage"
    label = "Data"
    icon = "table"
    hint = "The counts, their margins, and which cells are at risk."
    main_label = "Choose protection"
    entries = (
        MenuEntry("Edit", "copy", "&Copy", "Ctrl+C", here=True),
        MenuEntry("Edit", "copy_headers", "Copy with &headers", "Ctrl+Shift+C", here=True),
        MenuEntry("Edit", "paste", "&Paste\u2026", "Ctrl+V", here=True),
        MenuEntry("Edit", "find", "&Find or go to cell", "Ctrl+F", here=True),
        MenuEntry("Data", "edit", "&Edit count", here=True),
        MenuEntry("Data", "next", "&Next at-risk cell", "F8", here=True),
        MenuEntry("Data", "previous", "&Previous at-risk cell", "Shift+F8", here=True),
        MenuEntry("Data", "only", "At-risk rows and columns &only", "Ctrl+Shift+F", here=True),
        MenuEntry("Data", "risks", "&Risk list", "Ctrl+Shift+L", here=True),
        MenuEntry("Data", "categories", "&Categories", "Ctrl+Shift+K", here=True),
        MenuEntry("Data", "swap", "&Swap rows and columns", "Ctrl+Shift+T", here=True),
        *(
            MenuEntry("Data", key, words, f"Alt+{n}", here=True)
            for n, (key, words) in enumerate(FIGURES.items(), 1)
        ),
    )

    @classmethod
    def idle(cls, document: Document) -> frozenset[str]:
        if document.public or not document.has_original:
            return frozenset({"edit", "paste", "next", "previous", "only", "risks", "categories"})
        risky = cls.problems(document) > 0
        return frozenset() if risky else frozenset({"next", "previous"})

    @classmethod
    def problems(cls, document: Document) -> int:
        return 0 if document.public else document.at_risk_cells


class ProtectStage(Stage):
    """What must stay true, and which method is best for that."""

    name = "protect"
    page_class = "protect.page.ProtectPage"
    label = "Protect"
    icon = "shield"
    hint = "What must stay true, and which method keeps it at the least cost."
    main_label = "Set up"
    together = PROTECT_TABS
    entries = (
        MenuEntry("Protect", "choose", "&Choose a method", "Ctrl+Shift+M"),
        MenuEntry("Protect", "again", "Try every method &again"),
    )

    @classmethod
    def why_not(cls, document: Document) -> str:
        if document.project is None:
            return "Open a table first."
        if not document.has_original:
            return "A bundle opened without its original has nothing left to protect."
        return ""


CHECK_FILES: tuple[tuple[str, str, str, str], ...] = (
    ("map_svg", "Map as SVG\u2026", "posterior-map", "svg"),
    ("map_png", "Map as PNG\u2026", "posterior-map", "png"),
    ("cell_svg", "Histogram of the cell as SVG\u2026", "posterior-cell", "svg"),
    ("cell_png", "Histogram of the cell as PNG\u2026", "posterior-cell", "png"),
    ("draws_svg", "Spread of an analysis as SVG\u2026", "spread", "svg"),
    ("draws_png", "Spread of an analysis as PNG\u2026", "spread", "png"),
    ("draws_csv", "Draws of an analysis as CSV\u2026", "draws", "csv"),
    ("table_csv", "Numbers of all cells as CSV\u2026", "posterior-table", "csv"),
    ("cell_csv", "Distribution of the cell as CSV\u2026", "posterior-cell", "csv"),
)
"""What Check can export: kind, words, stem and suffix of the file."""


class CheckStage(Stage):
    """What a reader can believe."""

    name = "check"
    page_class = "check.page.CheckPage"
    label = "Check"
    icon = "check"
    hint = "What does a reader learn?"
    main_label = "On to the release"
    entries = tuple(MenuEntry("Check", kind, words) for kind, words, _, _ in CHECK_FILES)

    @classmethod
    def why_not(cls, document: Document) -> str:
        if document.project is None:
            return "Open a table or a release bundle first."
        if document.release is None:
            return "Protect the table first: a posterior is what its release lets a reader believe."
        return ""

    @classmethod
    def idle(cls, document: Document) -> frozenset[str]:
        return frozenset(kind for kind, *_ in CHECK_FILES)

    @classmethod
    def problems(cls, document: Document) -> int:
        """Cells that a reader would know."""
        verdict = document.judging.verdict(document.project)
        return 0 if verdict is None else verdict.known


class ReleaseStage(Stage):
    """Whether it may leave."""

    name = "release"
    page_class = "release.page.ReleasePage"
    label = "Release"
    icon = "release"
    hint = "May it leave?"
    main_label = "Approve and publish\u2026"
    entries = (
        MenuEntry("Release", "publish", "Approve and publish\u2026"),
        MenuEntry("Release", "report", "Report\u2026"),
    )

    @classmethod
    def why_not(cls, document: Document) -> str:
        if document.project is None:
            return "Open a table or a release bundle first."
        if document.release is None:
            return "Protect the table first: there is nothing to publish yet."
        return ""

    @classmethod
    def idle(cls, document: Document) -> frozenset[str]:
        project = document.project
        house = document.has_original and not document.public
        leaves = house and project is not None and not project.published
        return frozenset() if leaves else frozenset({"publish"})

    @classmethod
    def problems(cls, document: Document) -> int:
        """Whether something stands against it."""
        project = document.project
        if project is None or document.public or project.published:
            return 0
        return int(bool(project.against))


class RegisterStage(Stage):
    """What left this house."""

    name = "register"
    page_class = "register.page.RegisterPage"
    label = "Register"
    icon = "register"
    hint = "What was published before."
    under = "release"
    entries = (MenuEntry("Release", "show", "Register of releases"),)

    @classmethod
    def why_not(cls, document: Document) -> str:
        return ""

    @classmethod
    def applies(cls, document: Document) -> bool:
        """It belongs to the house, whatever is open."""
        return True


class QuerySpaceStage(Stage):
    """Which margins may go out together."""

    name = "query_space"
    page_class = "query_space.page.QuerySpacePage"
    label = "Query space"
    icon = "query-space"
    hint = "Which margins of the table may go out together."
    main_label = "Release"
    aside = True
    entries = (
        MenuEntry("Check", "copy", "Copy all sub-tables"),
        MenuEntry("Check", "save", "All sub-tables as CSV\u2026"),
        MenuEntry("Check", "picture", "Lattice as SVG\u2026"),
    )

    @classmethod
    def why_not(cls, document: Document) -> str:
        if document.project is None:
            return "Open a table first."
        if not document.has_original:
            return "A bundle opened without its original has nothing to weigh here."
        return ""


class VariablesStage(Stage):
    """What the table is classified by, and at which levels."""

    name = "variables"
    page_class = "variables.page.VariablesPage"
    label = "Variables"
    icon = "variables"
    hint = "Levels, bands and groups of every variable."
    main_label = "Back to the table"
    under = "table"

    @classmethod
    def why_not(cls, document: Document) -> str:
        if document.project is None:
            return "Open a table first."
        if not document.has_original:
            return "A release bundle has no variables to group: its levels came with it."
        return ""

    @classmethod
    def applies(cls, document: Document) -> bool:
        return document.has_original and not document.public


class StageOfCycles(Stage):
    """A step of cyclic perturbation."""

    under = "protect"

    @classmethod
    def applies(cls, document: Document) -> bool:
        return document.project is not None and document.project.takes_cycles

    @classmethod
    def why_not(cls, document: Document) -> str:
        if document.project is None:
            return "Open a table first."
        if not document.project.takes_cycles:
            method = document.project.protection.label.lower()
            return f"The chosen method is {method}: choose cyclic perturbation under Protect."
        if document.project.domain.ndim < 2:
            return "A cycle needs at least two variables."
        return ""


QUICK_ENTRIES = 20_000
"""Sets with more entries are examined as a job, and counted by no badge."""


class CyclesStage(StageOfCycles):
    """Which cells move together."""

    name = "cycles"
    page_class = "cycles.page.CyclesPage"
    label = "Cycles"
    icon = "cycles"
    hint = "Which cells move together, so that every margin stays."
    main_label = "Perturb with these cycles"
    entries = (
        MenuEntry("Protect", "templates", "Choose a &template", "Ctrl+Shift+P"),
        MenuEntry("Protect", "add", "&Add a cycle"),
        MenuEntry("Protect", "duplicate", "&Duplicate the cycle"),
        MenuEntry("Protect", "split", "&Split into connected parts"),
        MenuEntry("Protect", "import", "&Import cycles\u2026"),
        MenuEntry("Protect", "export", "&Export cycles\u2026"),
    )

    @classmethod
    def problems(cls, document: Document) -> int:
        project = document.project
        if project is None or project.moves is None or len(project.moves.cells) > QUICK_ENTRIES:
            return 0
        return len({v.cycle for v in project.moves.violations(most=100)})


class _RunStage(Stage):
    """What both have in common."""

    @classmethod
    def idle(cls, document: Document) -> frozenset[str]:
        house = document.has_original and not document.public
        out = frozenset[str]() if house else frozenset({"run", "setup"})
        return out if document.release is not None else out | {"result"}


class PerturbStage(_RunStage, StageOfCycles):
    """The coin, the rule, what will happen; then the run and its coins."""

    name = "perturb"
    page_class = "run.page.PerturbPage"
    label = "Perturb"
    icon = "perturb"
    hint = "How much the coins move the table."
    entries = (
        MenuEntry("Protect", "run", "&Run the perturbation", "Ctrl+Shift+R"),
        MenuEntry("Protect", "setup", "Show the set-&up"),
        MenuEntry("Protect", "result", "Show the resu&lt"),
    )


class MethodsStage(_RunStage):
    """The form of a method that takes no cycles, and its result."""

    name = "methods"
    page_class = "run.page.MethodsPage"
    label = "Set-up"
    icon = "methods"
    hint = "The chosen method: its parameters, what it will do, its result."
    under = "protect"
    entries = (
        MenuEntry("Protect", "run", "Run the &method", "Ctrl+Shift+R"),
        MenuEntry("Protect", "setup", "Show the method's set-up"),
        MenuEntry("Protect", "result", "Show the published tables"),
    )

    @classmethod
    def applies(cls, document: Document) -> bool:
        return document.project is not None and not document.project.takes_cycles

    @classmethod
    def why_not(cls, document: Document) -> str:
        if document.project is None:
            return "Open a table first."
        if document.project.takes_cycles:
            return "The chosen method has its own steps, Cycles and Perturb: see Protect."
        return ""


class CompareStage(Stage):
    """Methods side by side."""

    name = "compare"
    page_class = "compare.page.ComparePage"
    label = "Compare"
    icon = "compare"
    hint = "Methods side by side: what each gives away, against what it keeps."
    main_label = "Compare"
    together = PROTECT_TABS
    entries = (
        MenuEntry("Protect", "compare", "Compare the &settings"),
        MenuEntry("Protect", "source", "The paper's comparison of methods"),
        MenuEntry("Protect", "open", "Open the chosen run's release"),
        MenuEntry("Protect", "csv", "Export the comparison as CSV\u2026"),
        MenuEntry("Protect", "svg", "Export the risk-utility map as SVG\u2026"),
    )

    @classmethod
    def why_not(cls, document: Document) -> str:
        if document.project is not None and not document.has_original:
            return "A bundle opened without its original has nothing to compare."
        return super().why_not(document)

    @classmethod
    def idle(cls, document: Document) -> frozenset[str]:
        started = frozenset({"compare", "source"}) if document.public else frozenset[str]()
        return started | {"open", "csv", "svg"}
