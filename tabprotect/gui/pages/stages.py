"""What the rail and the menus show of every page.

The pages themselves are imported when they are first needed: the first paint does not wait for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from tabprotect.engine.bundle.staff.release_findings import known_in
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.stage import MenuEntry, Stage
from tabprotect.gui.grid.cell_texts import FIGURES
from tabprotect.languages.messages import message

READERS_TABS = (("check", message("This table")), ("attack", message("Other tables")))
"""The pages of Readers."""

PANEL, LINES, TUNE = 400, 520, 640
"""Pixels, at normal text, that the panel beside the table is wide: as it decides, with all lines of the
gate, with a method's set-up."""


class TableStage(Stage):
    """The table and its margins."""

    name = "table"
    page_class = "table.page.TablePage"
    by_measure = True
    magnitude_entries = frozenset({"next", "previous", "swap", "copy", "copy_headers", "copy_table"})
    label = message("Table")
    icon = "table"
    hint = message("The table, and what becomes of it.")
    entries = (
        MenuEntry(message("Edit"), "copy", message("&Copy"), "Ctrl+C", here=True),
        MenuEntry(message("Edit"), "copy_headers", message("Copy with &headers"), "Ctrl+Shift+C", here=True),
        MenuEntry(message("Edit"), "copy_table", message("Copy the &whole table"), here=True),
        MenuEntry(message("Edit"), "paste", message("&Paste\u2026"), "Ctrl+V", here=True),
        MenuEntry(message("Edit"), "find", message("&Find or go to cell"), "Ctrl+F", here=True),
        MenuEntry(message("Table"), "edit", message("&Edit count"), here=True),
        MenuEntry(message("Table"), "next", message("&Next small count"), "F8", here=True),
        MenuEntry(message("Table"), "previous", message("&Previous small count"), "Shift+F8", here=True),
        MenuEntry(
            message("Table"),
            "only",
            message("Rows and columns with small counts &only"),
            "Ctrl+Shift+F",
            here=True,
        ),
        MenuEntry(message("Table"), "risks", message("&Risk list"), "Ctrl+Shift+L", here=True),
        MenuEntry(message("Table"), "categories", message("&Categories"), "Ctrl+Shift+K", here=True),
        MenuEntry(message("Table"), "swap", message("&Swap rows and columns"), "Ctrl+Shift+T", here=True),
        *(
            MenuEntry(message("Table"), key, words, f"Alt+{n}", here=True)
            for n, (key, words) in enumerate(FIGURES.items(), 1)
        ),
    )

    @classmethod
    def idle(cls, document: Document) -> frozenset[str]:
        if not document.in_house:
            return frozenset({"edit", "paste", "next", "previous", "only", "risks", "categories"})
        risky = document.at_risk_cells > 0
        return frozenset() if risky else frozenset({"next", "previous"})

    @classmethod
    def problems(cls, document: Document) -> int:
        return 0 if document.public else document.at_risk_cells


class Beside(Stage):
    """What is shown beside the table, in the place of what decides."""

    under = "table"
    back = "table"
    beside = PANEL


class ProposalStage(Beside):
    """What is proposed for a table that is not protected yet."""

    name = "proposal"
    page_class = "protect.proposal.ProposalPage"
    by_measure = True
    label = message("Proposal")
    icon = "shield"
    hint = message("What is proposed for this table.")
    main_label = message("Protect")
    back = ""


class ProtectStage(Beside):
    """Every way to protect the table, best first."""

    name = "protect"
    page_class = "protect.page.ProtectPage"
    by_measure = True
    magnitude_entries = frozenset({"choose", "again"})
    label = message("Other ways")
    icon = "shield"
    hint = message("What must stay true, and which method keeps it at the least cost.")
    main_label = message("Protect this way")
    entries = (
        MenuEntry(message("Protect"), "choose", message("&Other ways"), "Ctrl+Shift+M"),
        MenuEntry(message("Protect"), "again", message("Try every method &again")),
    )

    needs: ClassVar[Mapping[str, str]] = {
        "open": message("Open a table first."),
        "original": message("A bundle opened without its original has nothing left to protect."),
    }


class RequirementsStage(Beside):
    """What must stay true of the table."""

    name = "requirements"
    page_class = "protect.requirements_asked.RequirementsPage"
    label = message("What must stay true?")
    icon = "tick"
    hint = message("The sums that are to be exact, and what else is not to change.")
    main_label = message("Use these")

    needs: ClassVar[Mapping[str, str]] = ProtectStage.needs


CHECK_FILES: Mapping[str, tuple[str, str]] = {
    "map_svg": (message("Map as SVG\u2026"), "posterior-map.svg"),
    "map_png": (message("Map as PNG\u2026"), "posterior-map.png"),
    "cell_svg": (message("Histogram of the cell as SVG\u2026"), "posterior-cell.svg"),
    "cell_png": (message("Histogram of the cell as PNG\u2026"), "posterior-cell.png"),
    "draws_svg": (message("Spread of an analysis as SVG\u2026"), "spread.svg"),
    "draws_png": (message("Spread of an analysis as PNG\u2026"), "spread.png"),
    "draws_csv": (message("Draws of an analysis as CSV\u2026"), "draws.csv"),
    "table_csv": (message("Numbers of all cells as CSV\u2026"), "posterior-table.csv"),
    "cell_csv": (message("Distribution of the cell as CSV\u2026"), "posterior-cell.csv"),
}
"""What Check can export: words and name of each kind."""


class CheckStage(Stage):
    """The stage Check: what a reader can believe."""

    name = "check"
    page_class = "check.page.CheckPage"
    by_measure = True
    label = message("Readers")
    icon = "check"
    hint = message("What does a reader learn?")
    together: ClassVar[tuple[tuple[str, str], ...]] = READERS_TABS
    entries = tuple(MenuEntry(message("Readers"), kind, words) for kind, (words, _) in CHECK_FILES.items())

    needs: ClassVar[Mapping[str, str]] = {
        "open": message("Open a table or a release bundle first."),
        "release": message("Protect the table first: then you see what readers would know."),
    }

    @classmethod
    def idle(cls, document: Document) -> frozenset[str]:
        return frozenset(CHECK_FILES)

    @classmethod
    def problems(cls, document: Document) -> int:
        """Cells that a reader would know."""
        verdict = document.judging.verdict(document.project)
        return 0 if verdict is None else known_in(verdict, public=document.public)


class AttackStage(Stage):
    """The stage of attacks: what published files of any office tell together."""

    name = "attack"
    page_class = "attack.page.AttackPage"
    label = message("Other tables")
    any_table = True
    icon = "find"
    hint = message("What published files of any office tell together.")
    main_label = message("Save the report\u2026")
    under = "check"
    together = READERS_TABS
    entries = (MenuEntry(message("Readers"), "add", message("&Attack published files\u2026")),)

    needs: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def applies(cls, document: Document) -> bool:
        """It needs no table of the house, whatever is open."""
        return True


class ReleaseStage(Beside):
    """The gate: if the table may leave, and why not."""

    name = "release"
    page_class = "release.page.ReleasePage"
    by_measure = True
    magnitude_entries = frozenset({"publish", "report", "save_as"})
    label = message("All lines")
    icon = "release"
    hint = message("May it leave?")
    main_label = message("Publish\u2026")
    beside = LINES
    entries = (
        MenuEntry(message("Releases"), "publish", message("Publish\u2026")),
        MenuEntry(message("Releases"), "report", message("Report\u2026")),
        MenuEntry(message("Releases"), "save_as", message("Save as\u2026")),
    )

    needs: ClassVar[Mapping[str, str]] = {
        "open": message("Open a table or a release bundle first."),
        "release": message("Protect the table first: there is nothing to publish yet."),
    }

    @classmethod
    def idle(cls, document: Document) -> frozenset[str]:
        project = document.project
        leaves = document.in_house and project is not None and not project.published
        return frozenset() if leaves else frozenset({"publish"})

    @classmethod
    def problems(cls, document: Document) -> int:
        """Tell whether something stands against it."""
        if (project := document.project) is None or document.public or project.published:
            return 0
        if (done := project.protected_magnitudes) is not None:
            return int(done.verdict.passed is not True)
        return int(bool(project.against))


class RegisterStage(Stage):
    """The stage of the register: what left this house."""

    name = "register"
    page_class = "register.RegisterPage"
    any_table = True
    label = message("Releases")
    icon = "register"
    hint = message("What was published before.")
    entries = (MenuEntry(message("Releases"), "show", message("Register of releases")),)

    @classmethod
    def why_not(cls, document: Document) -> str:
        reader = document.project is not None and not document.has_original
        return message("Only staff have a register of what left.") if reader else ""

    @classmethod
    def applies(cls, document: Document) -> bool:
        """It belongs to the house, whatever is open; who reads a bundle has none."""
        return document.project is None or document.has_original


class QuerySpaceStage(Stage):
    """The stage of the query space: which margins may go out together."""

    name = "query_space"
    page_class = "query_space.page.QuerySpacePage"
    label = message("Plan")
    icon = "query-space"
    hint = message("Which margins of the table may go out together.")
    main_label = message("Release")
    entries = (
        MenuEntry(message("Plan"), "copy", message("Copy all tables")),
        MenuEntry(message("Plan"), "save", message("All tables as CSV…")),
        MenuEntry(message("Plan"), "picture", message("Lattice as SVG\u2026")),
    )

    needs: ClassVar[Mapping[str, str]] = {
        "open": message("Open a table first."),
        "original": message("Only staff who have the original see this."),
    }


class VariablesStage(Stage):
    """The stage of variables: what the table is classified by, and at which levels."""

    name = "variables"
    page_class = "variables.page.VariablesPage"
    any_table = True
    label = message("Categories")
    icon = "variables"
    hint = message("Levels, bands and groups of every variable.")
    under = "table"
    back = "table"

    needs: ClassVar[Mapping[str, str]] = {
        "open": message("Open a table first."),
        "original": message("A release bundle has no variables to group: its levels came with it."),
    }

    @classmethod
    def applies(cls, document: Document) -> bool:
        return document.in_house


class StageOfCycles(Stage):
    """What belongs to cyclic perturbation."""

    under = "table"

    @classmethod
    def applies(cls, document: Document) -> bool:
        return document.project is not None and document.project.perturbs

    @classmethod
    def why_not(cls, document: Document) -> str:
        if document.project is None:
            return message("Open a table first.")
        if not document.project.perturbs:
            method = document.project.protection.label.lower()
            return message("The chosen method is {method}: choose cyclic perturbation at Other ways.", method)
        if document.project.domain.ndim < 2:
            return message("A cycle needs at least two variables.")
        return ""


QUICK_ENTRIES = 20_000
"""Sets with more entries are examined as a job, and counted by no badge."""


class CyclesStage(StageOfCycles):
    """The stage Cycles: which cells move together."""

    name = "cycles"
    page_class = "cycles.page.CyclesPage"
    label = message("Cycles")
    icon = "cycles"
    hint = message("Which cells move together, so that every margin stays.")
    main_label = message("Use these")
    back = "perturb"

    @classmethod
    def applies(cls, document: Document) -> bool:
        return super().applies(document) and document.project is not None and document.project.takes_cycles

    @classmethod
    def why_not(cls, document: Document) -> str:
        if why := super().why_not(document):
            return why
        if document.project is not None and not document.project.takes_cycles:
            return message("Exchange steps take no cycles: choose another rule at Tune.")
        return ""

    entries = (
        MenuEntry(message("Protect"), "templates", message("Choose a &template"), "Ctrl+Shift+P"),
        MenuEntry(message("Protect"), "add", message("&Add a cycle")),
        MenuEntry(message("Protect"), "duplicate", message("&Duplicate the cycle")),
        MenuEntry(message("Protect"), "split", message("&Split into connected parts")),
        MenuEntry(message("Protect"), "import", message("&Import cycles\u2026")),
        MenuEntry(message("Protect"), "export", message("&Export cycles\u2026")),
    )

    @classmethod
    def problems(cls, document: Document) -> int:
        project = document.project
        if project is None or project.moves is None or len(project.moves.cells) > QUICK_ENTRIES:
            return 0
        return len({v.cycle for v in project.moves.violations(most=100)})


class _RunStage(Beside):
    """The common part of both forms of a method."""

    main_label = message("Protect")
    beside = TUNE

    @classmethod
    def idle(cls, document: Document) -> frozenset[str]:
        return frozenset[str]() if document.in_house else frozenset({"run", "setup"})


class PerturbStage(_RunStage, StageOfCycles):
    """The coin, the rule, what will happen."""

    name = "perturb"
    page_class = "run.page.PerturbPage"
    label = message("Tune")
    icon = "perturb"
    hint = message("How much the coins move the table.")
    entries = (
        MenuEntry(message("Protect"), "run", message("&Run the perturbation"), "Ctrl+Shift+R"),
        MenuEntry(message("Protect"), "setup", message("&Tune the perturbation"), "Ctrl+E"),
    )


class MethodsStage(_RunStage):
    """The form of a method that takes no cycles."""

    name = "methods"
    page_class = "run.page.MethodsPage"
    by_measure = True
    magnitude_entries = frozenset({"run", "setup"})
    label = message("Tune")
    icon = "methods"
    hint = message("The chosen method: its parameters, and what it will do.")
    entries = (
        MenuEntry(message("Protect"), "run", message("Run the &method"), "Ctrl+Shift+R"),
        MenuEntry(message("Protect"), "setup", message("&Tune the method"), "Ctrl+E"),
    )

    @classmethod
    def applies(cls, document: Document) -> bool:
        return document.project is not None and not document.project.perturbs

    @classmethod
    def why_not(cls, document: Document) -> str:
        if document.project is None:
            return message("Open a table first.")
        if document.project.perturbs:
            return message("Cyclic perturbation has a form of its own.")
        return ""


class CompareStage(Stage):
    """Methods side by side."""

    name = "compare"
    page_class = "compare.page.ComparePage"
    by_measure = True
    magnitude_entries = frozenset({"compare", "open", "csv", "svg"})
    label = message("Compare")
    icon = "compare"
    hint = message("Methods side by side: what each gives away, against what it keeps.")
    main_label = message("Compare")
    under = "table"
    back = "protect"
    entries = (
        MenuEntry(message("Protect"), "compare", message("Compare the &settings")),
        MenuEntry(message("Protect"), "open", message("Open the chosen run's release")),
        MenuEntry(message("Protect"), "csv", message("Export the comparison as CSV\u2026")),
        MenuEntry(message("Protect"), "svg", message("Export the risk-utility map as SVG\u2026")),
    )

    needs: ClassVar[Mapping[str, str]] = {
        "open": message("Open a table first."),
        "original": message("A bundle opened without its original has nothing to compare."),
    }

    @classmethod
    def idle(cls, document: Document) -> frozenset[str]:
        started = frozenset({"compare"}) if document.public else frozenset[str]()
        return started | {"open", "csv", "svg"}
