"""What the rail and the menus show of every page.

The pages themselves are imported when they are first needed: the first paint does not wait for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tabprotect.engine.bundle.staff.release_findings import known_in
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.stage import HOLDS, OPEN, MenuEntry, Stage
from tabprotect.gui.grid.cell_texts import FIGURES
from tabprotect.languages.messages import message

READERS_TABS = (("check", message("This table")), ("attack", message("Other tables")))
"""The pages of Readers."""

NO_RULE = message("Give a rule first: it says which sums tell too much of one contributor.")

PANEL, LINES, TUNE = 400, 520, 640
"""Pixels, at normal text, that the panel beside the table is wide: as it decides, with all lines of the
gate, with a method's set-up."""


def _about_small(document: Document) -> frozenset[str]:
    """Entries of the table that have nothing to work on."""
    if not document.in_house:
        return frozenset({"edit", "paste", "next", "previous", "only", "risks", "categories"})
    return frozenset() if document.at_risk_cells > 0 else frozenset({"next", "previous"})


TABLE = Stage(
    name="table",
    page_class="table.page.TablePage",
    by_measure=True,
    magnitude_entries=frozenset({"next", "previous", "swap", "copy", "copy_headers", "copy_table"}),
    label=message("Table"),
    icon="table",
    hint=message("The table, and what becomes of it."),
    entries=(
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
    ),
    idle=_about_small,
    problems=lambda document: 0 if document.public else document.at_risk_cells,
)

PROPOSAL = Stage(
    name="proposal",
    page_class="protect.proposal.ProposalPage",
    by_measure=True,
    label=message("Proposal"),
    icon="shield",
    hint=message("What is proposed for this table."),
    main_label=message("Protect"),
    under="table",
    beside=PANEL,
)

PROTECT = Stage(
    name="protect",
    page_class="protect.page.ProtectPage",
    by_measure=True,
    magnitude_entries=frozenset({"choose", "again"}),
    label=message("Other ways"),
    icon="shield",
    hint=message("What must stay true, and which method keeps it at the least cost."),
    main_label=message("Protect this way"),
    under="table",
    back="table",
    beside=PANEL,
    entries=(
        MenuEntry(message("Protect"), "choose", message("&Other ways"), "Ctrl+Shift+M"),
        MenuEntry(message("Protect"), "again", message("Try every method &again")),
    ),
    needs={
        **OPEN,
        "original": message("A bundle opened without its original has nothing left to protect."),
        "rule": NO_RULE,
    },
)

MUST_STAY = Stage(
    name="requirements",
    page_class="protect.requirements_asked.RequirementsPage",
    label=message("What must stay true?"),
    icon="tick",
    hint=message("The sums that are to be exact, and what else is not to change."),
    main_label=message("Use these"),
    under="table",
    back="table",
    beside=PANEL,
    needs=PROTECT.needs,
)

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


def _known(document: Document) -> int:
    """Cells that a reader would know."""
    verdict = document.judging.verdict(document.project)
    return 0 if verdict is None else known_in(verdict, public=document.public)


CHECK = Stage(
    name="check",
    page_class="check.page.CheckPage",
    by_measure=True,
    label=message("Readers"),
    icon="check",
    hint=message("What does a reader learn?"),
    together=READERS_TABS,
    entries=tuple(MenuEntry(message("Readers"), kind, words) for kind, (words, _) in CHECK_FILES.items()),
    needs={
        "open": message("Open a table or a release bundle first."),
        "release": message("Protect the table first: then you see what readers would know."),
    },
    idle=lambda document: frozenset(CHECK_FILES),
    problems=_known,
)

ATTACK = Stage(
    name="attack",
    page_class="attack.page.AttackPage",
    label=message("Other tables"),
    any_table=True,
    icon="find",
    hint=message("What published files of any office tell together."),
    main_label=message("Save the report\u2026"),
    under="check",
    together=READERS_TABS,
    entries=(MenuEntry(message("Readers"), "add", message("&Attack published files\u2026")),),
    needs={},
    # It needs no table of the house, whatever is open.
    applies=lambda document: True,
)


def _stays(document: Document) -> frozenset[str]:
    project = document.project
    leaves = document.in_house and project is not None and not project.published
    return frozenset() if leaves else frozenset({"publish"})


def _against(document: Document) -> int:
    """Tell whether something stands against the release."""
    if (project := document.project) is None or document.public or project.published:
        return 0
    if (done := project.protected_magnitudes) is not None:
        return int(done.verdict.passed is not True)
    return int(bool(project.against))


RELEASE = Stage(
    name="release",
    page_class="release.page.ReleasePage",
    by_measure=True,
    magnitude_entries=frozenset({"publish", "report", "save_as"}),
    label=message("All lines"),
    icon="release",
    hint=message("May it leave?"),
    main_label=message("Publish\u2026"),
    under="table",
    back="table",
    beside=LINES,
    entries=(
        MenuEntry(message("Releases"), "publish", message("Publish\u2026")),
        MenuEntry(message("Releases"), "report", message("Report\u2026")),
        MenuEntry(message("Releases"), "save_as", message("Save as\u2026")),
    ),
    needs={
        "open": message("Open a table or a release bundle first."),
        "release": message("Protect the table first: there is nothing to publish yet."),
    },
    idle=_stays,
    problems=_against,
)

REGISTER = Stage(
    name="register",
    page_class="register.RegisterPage",
    any_table=True,
    label=message("Releases"),
    icon="register",
    hint=message("What was published before."),
    entries=(MenuEntry(message("Releases"), "show", message("Register of releases")),),
    needs={"house": message("Only staff have a register of what left.")},
    # It belongs to the house, whatever is open; who reads a bundle has none.
    applies=HOLDS["house"],
)

QUERY_SPACE = Stage(
    name="query_space",
    page_class="query_space.page.QuerySpacePage",
    label=message("Plan"),
    icon="query-space",
    hint=message("Which margins of the table may go out together."),
    main_label=message("Release"),
    entries=(
        MenuEntry(message("Plan"), "copy", message("Copy all tables")),
        MenuEntry(message("Plan"), "save", message("All tables as CSV…")),
        MenuEntry(message("Plan"), "picture", message("Lattice as SVG\u2026")),
    ),
    needs={**OPEN, "original": message("Only staff who have the original see this.")},
)

VARIABLES = Stage(
    name="variables",
    page_class="variables.page.VariablesPage",
    any_table=True,
    label=message("Categories"),
    icon="variables",
    hint=message("Levels, bands and groups of every variable."),
    under="table",
    back="table",
    needs={
        **OPEN,
        "original": message("A release bundle has no variables to group: its levels came with it."),
    },
    applies=lambda document: document.in_house,
)


def _no_coins(document: Document) -> str:
    """Say why nothing here is cyclic perturbation."""
    if document.project is None:
        return OPEN["open"]
    if not document.project.perturbs:
        method = document.project.protection.label.lower()
        return message("The chosen method is {method}: choose cyclic perturbation at Other ways.", method)
    return message("A cycle needs at least two variables.") if document.project.domain.ndim < 2 else ""


def _no_cycles(document: Document) -> str:
    if (why := _no_coins(document)) or document.project is None or document.project.takes_cycles:
        return why
    return message("Exchange steps take no cycles: choose another rule at Tune.")


QUICK_ENTRIES = 20_000
"""Sets with more entries are examined as a job, and counted by no badge."""


def _broken(document: Document) -> int:
    project = document.project
    if project is None or project.moves is None or len(project.moves.cells) > QUICK_ENTRIES:
        return 0
    return len({v.cycle for v in project.moves.violations(most=100)})


CYCLES = Stage(
    name="cycles",
    page_class="cycles.page.CyclesPage",
    label=message("Cycles"),
    icon="cycles",
    hint=message("Which cells move together, so that every margin stays."),
    main_label=message("Use these"),
    under="table",
    back="perturb",
    entries=(
        MenuEntry(message("Protect"), "templates", message("Choose a &template"), "Ctrl+Shift+P"),
        MenuEntry(message("Protect"), "add", message("&Add a cycle")),
        MenuEntry(message("Protect"), "duplicate", message("&Duplicate the cycle")),
        MenuEntry(message("Protect"), "split", message("&Split into connected parts")),
        MenuEntry(message("Protect"), "import", message("&Import cycles\u2026")),
        MenuEntry(message("Protect"), "export", message("&Export cycles\u2026")),
    ),
    refuses=_no_cycles,
    applies=lambda document: (
        document.project is not None and document.project.perturbs and document.project.takes_cycles
    ),
    problems=_broken,
)


def _watched(document: Document) -> frozenset[str]:
    return frozenset() if document.in_house else frozenset({"run", "setup"})


PERTURB = Stage(
    name="perturb",
    page_class="run.page.PerturbPage",
    label=message("Tune"),
    icon="perturb",
    hint=message("How much the coins move the table."),
    main_label=message("Protect"),
    under="table",
    back="table",
    beside=TUNE,
    entries=(
        MenuEntry(message("Protect"), "run", message("&Run the perturbation"), "Ctrl+Shift+R"),
        MenuEntry(message("Protect"), "setup", message("&Tune the perturbation"), "Ctrl+E"),
    ),
    refuses=_no_coins,
    applies=lambda document: document.project is not None and document.project.perturbs,
    idle=_watched,
)


def _coins(document: Document) -> str:
    """Say why there is no form of a method without coins."""
    if document.project is None:
        return OPEN["open"]
    if document.project.perturbs:
        return message("Cyclic perturbation has a form of its own.")
    return "" if HOLDS["rule"](document) else NO_RULE


METHODS = replace(
    PERTURB,
    name="methods",
    page_class="run.page.MethodsPage",
    by_measure=True,
    magnitude_entries=frozenset({"run", "setup"}),
    icon="methods",
    hint=message("The chosen method: its parameters, and what it will do."),
    entries=(
        MenuEntry(message("Protect"), "run", message("Run the &method"), "Ctrl+Shift+R"),
        MenuEntry(message("Protect"), "setup", message("&Tune the method"), "Ctrl+E"),
    ),
    refuses=_coins,
    applies=lambda document: document.project is not None and not document.project.perturbs,
)

COMPARE = Stage(
    name="compare",
    page_class="compare.page.ComparePage",
    by_measure=True,
    magnitude_entries=frozenset({"compare", "open", "csv", "svg"}),
    label=message("Compare"),
    icon="compare",
    hint=message("Methods side by side: what each gives away, against what it keeps."),
    main_label=message("Compare"),
    under="table",
    back="protect",
    entries=(
        MenuEntry(message("Protect"), "compare", message("Compare the &settings")),
        MenuEntry(message("Protect"), "open", message("Open the chosen run's release")),
        MenuEntry(message("Protect"), "csv", message("Export the comparison as CSV\u2026")),
        MenuEntry(message("Protect"), "svg", message("Export the risk-utility map as SVG\u2026")),
    ),
    needs={
        **OPEN,
        "original": message("A bundle opened without its original has nothing to compare."),
        "rule": NO_RULE,
    },
    idle=lambda document: (
        frozenset({"open", "csv", "svg"}) | (frozenset({"compare"}) if document.public else frozenset())
    ),
)

PAGES = (
    *(TABLE, CHECK, REGISTER, QUERY_SPACE),
    *(PROPOSAL, PROTECT, MUST_STAY, PERTURB, METHODS, CYCLES, COMPARE, VARIABLES, RELEASE, ATTACK),
)
"""The entries of the rail, then what is opened over them; the menus and Ctrl+number follow from them."""
