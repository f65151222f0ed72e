"""The bundle as the release page shows it: every public byte, what was checked, and in words."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QFontDatabase, QTextDocument, QTextOption
from PySide6.QtWidgets import QHeaderView, QPlainTextEdit, QTextBrowser, QTreeWidget, QTreeWidgetItem, QWidget

from tabprotect.engine.bundle import archive, public
from tabprotect.engine.bundle.staff import confidential
from tabprotect.engine.bundle.verify import verify_bytes
from tabprotect.engine.parameters import Parameter
from tabprotect.engine.progress import Progress
from tabprotect.engine.protection.cycle_runs.sequence import ORDERS
from tabprotect.engine.protection.descriptions.run_summary import RunSummary, summarise
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Protected
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.release.likelihood import (
    BLOCKING_RULES,
    AdaptiveSequence,
    CellFactors,
    ExchangeSteps,
    MoveSequence,
    RecordSwaps,
    SwappedFirst,
)
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.gui.look.buttons import connected, named, push_button
from tabprotect.gui.look.drawn import icons
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column, in_row
from tabprotect.gui.look.theme import GRID, count_text, tabular
from tabprotect.languages.messages import in_100, joined, message, plural
from tabprotect.languages.translation import tr, translate

MEANINGS = {
    "README.md": message("For the reader: what was done, what is exact, how to compute with it."),
    "datapackage.json": message("The variables and their categories."),
    "table.csv": message("The protected counts, one line per cell."),
    "mechanism.json": message("The method and all its public parameters: how the counts came about."),
    "manifest.json": message("The SHA-256 of every file."),
    "page.html": message("The tables in a browser, with what to believe of each count."),
}

STAYS: tuple[tuple[str, str], ...] = (
    (confidential.ORIGINAL, message("The original counts.")),
    (confidential.CONTRIBUTIONS, message("What each contributor put into every sum.")),
    (confidential.RECORD, message("The seed, the rule for small counts, the decisions taken.")),
    (confidential.COINS, message("Each coin, what was done, and what was blocked.")),
    (confidential.STATUSES, message("Which cells are hidden, and which are hidden to protect those.")),
    (confidential.HIDDEN, message("The inner cells behind the published tables.")),
    (confidential.KEYS, message("The sums of the record keys.")),
    ("risk_report.md", message("The small counts and what became of them.")),
    ("audit_trail.json", message("Every step that led here.")),
    ("recipe.toml", message("How to repeat it, seed included.")),
)
"""What a dossier keeps, for people."""


def meaning(name: str) -> str:
    """Say what a file of the bundle is for."""
    return MEANINGS.get(name, "A further published table, one line per cell.")


def stays(protected: Protected) -> tuple[tuple[str, str], ...]:
    """Return what the dossier of this very run keeps."""
    record, magnitudes = protected.record, bool(protected.release.magnitudes)
    absent = {
        name
        for name, found in (
            (confidential.ORIGINAL, not magnitudes),
            (confidential.CONTRIBUTIONS, magnitudes),
            (confidential.COINS, record.steps is not None),
            (confidential.STATUSES, bool(record.statuses)),
            (confidential.HIDDEN, record.hidden is not None),
            (confidential.KEYS, record.problem.record_keys is not None),
        )
        if not found
    }
    return tuple((name, words) for name, words in STAYS if name not in absent)


@dataclass(frozen=True)
class Bundle:
    """A bundle that passed verification.

    Attributes
    ----------
    files
        Every file by name.
    size
        Bytes of the zip.
    fingerprint
        Its SHA-256.
    checks
        What was checked, in words.
    mechanism
        How the table was protected, in words.
    summary
        What the run did to the original; ``None`` without an original. Confidential.
    stays
        What the dossier keeps, with its meaning.
    settings
        The settings of the method in words; empty where the mechanism says them.
    """

    files: dict[str, bytes]
    size: int
    fingerprint: str
    checks: tuple[str, ...]
    mechanism: str
    summary: RunSummary | None = None
    stays: tuple[tuple[str, str], ...] = ()
    settings: str = ""


def prepare(release: Release, protected: Protected | None, progress: Progress) -> Bundle:
    """Make the bundle in memory and verify it as its reader will."""
    progress.report(message("making the bundle"), 0.1)
    files = public.files(release)
    data = archive.pack(files)
    progress.report(message("verifying the bundle"), 0.5)
    verified = verify_bytes(data)
    progress.report(message("comparing with the original"), 0.9)
    summary = None if protected is None or release.magnitudes else summarise(protected)
    words, settings = mechanism_text(release), settings_text(release)
    kept = () if protected is None else stays(protected)
    return Bundle(files, len(data), verified.fingerprint, verified.checks, words, summary, kept, settings)


def inspect(path: Path, progress: Progress) -> Bundle:
    """A bundle file, verified once more.

    Raises
    ------
    BundleError, InputError
        When it is not what it was, or no longer there.
    """
    progress.report(message("reading the bundle"), 0.1)
    data = archive.load(path)
    progress.report(message("verifying the bundle"), 0.4)
    verified = verify_bytes(data)
    # Verified: nothing but the described files is in it.
    files = archive.unpack(data, allowed=lambda name: True)
    words = mechanism_text(verified.release)
    settings = settings_text(verified.release)
    return Bundle(files, len(data), verified.fingerprint, verified.checks, words, settings=settings)


def size_text(size: int) -> str:
    """Bytes for people."""
    if size < 1000:
        return message("{size} bytes", size)
    for unit in ("kB", "MB"):
        if (size_ := size / 1000) < 1000:
            return (
                message("{size:.1f} {unit}", size_, unit)
                if size_ < 100
                else message("{size:.0f} {unit}", size_, unit)
            )
        size = round(size_)
    return message("{size:.1f} GB", size / 1000)


def mechanism_text(release: Release) -> str:
    """Say how the table was protected, in words."""
    method, cycles = _method(release), release.mechanism.parameters.get("cycles")
    label = method.label
    if not isinstance(cycles, MoveSet) or isinstance(
        likelihood := likelihood_of(release), CellFactors | RecordSwaps | SwappedFirst | ExchangeSteps
    ):
        # It begins with what the method is called.
        return message(method.help.splitlines()[0])
    return plural(
        len(cycles),
        "{label}: {cycles} cycle, "
        "{likelihood}. A coin adds each with {alpha}, subtracts it with {beta}, else "
        "leaves the table. {likelihood2}",
        "{label}: {cycles} cycles, "
        "{likelihood}. A coin adds each with {alpha}, subtracts it with {beta}, else "
        "leaves the table. {likelihood2}",
        label,
        count_text(len(cycles)),
        _course(likelihood, release),
        in_100(likelihood.alpha),
        in_100(likelihood.beta),
        _blocking(likelihood),
    )


def _method(release: Release) -> Method:
    return methods("magnitudes" if release.magnitudes else "counts")[release.mechanism.method]


def settings_text(release: Release) -> str:
    """The settings of a method that its sentence does not say."""
    method, given = _method(release), release.mechanism.parameters
    if isinstance(given.get("cycles"), MoveSet) and not isinstance(likelihood_of(release), CellFactors):
        return ""
    texts = [
        _parameter(p, value)
        for p in method.parameters
        if p.public
        and isinstance(value := given.get(p.name), (int, float, str))
        and value is not False
        and value != ""
    ]
    return joined(texts, "; ") + "." if texts else ""


def _parameter(parameter: Parameter[Any], value: float | str) -> str:
    """A parameter in words: of a choice what it means, not what it is called in files."""
    label = parameter.label
    if value is True:
        return label
    meaning = translate((parameter.choices or {}).get(str(value), "")).split(":")[0].rstrip(".")
    return (
        message("{label}: {meaning}", label, meaning)
        if meaning
        else message("{label} {value}", label, message(str(value)))
    )


def _course(likelihood: MoveSequence | AdaptiveSequence, release: Release) -> str:
    """Say how often the cycles come, in words."""
    if isinstance(likelihood, AdaptiveSequence):
        return plural(likelihood.steps, "{steps} step", "{steps} steps", count_text(likelihood.steps))
    order = release.mechanism.parameters.get("order", "listed")
    passes = likelihood.passes
    if order == "listed" and likelihood.moves == release.mechanism.parameters["cycles"]:
        return plural(passes, "{passes} pass", "{passes} passes", passes)
    steps = len(likelihood.moves) * passes
    how = {
        "random": message(" in a random order that is published"),
        "replacement": message(" drawn at random"),
    }
    return plural(
        steps, "{steps} step{order}", "{steps} steps{order}", count_text(steps), how.get(str(order), "")
    )


def _blocking(likelihood: MoveSequence | AdaptiveSequence) -> str:
    if isinstance(likelihood, AdaptiveSequence):
        return ORDERS["positive"]
    return BLOCKING_RULES[likelihood.rule]


def reader_sentence(bundle: Bundle, release: Release) -> str:
    """The page's sentence for a reader."""
    cells = sum(published.table.domain.size for published in release.tables)
    return message(
        "This bundle of {size} passed all {checks} checks: "
        "protected counts of {cells} cells, with the mechanism that made them.",
        size_text(bundle.size),
        len(bundle.checks),
        count_text(cells),
    )


AT_FIRST = 40_000
"""Characters of a file that are shown before all is asked for."""


class FileTree(QTreeWidget):
    """Two groups: what leaves, and (in the house) what stays."""

    def __init__(self) -> None:
        super().__init__(columnCount=2)
        self.setAccessibleName(tr("Files for readers and files that stay"))
        self.setHeaderHidden(True)
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.header().setStretchLastSection(False)
        self.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)

    def show_files(self, bundle: Bundle, *, house: bool) -> None:
        """List the files; the current one stays so, else the first becomes it."""
        before = self.currentItem()
        chosen = None if before is None else before.text(0)
        self.clear()
        self.setFont(tabular(self.font()))
        number = len(bundle.files)
        title = (
            plural(number, "{n} file for readers", "{n} files for readers", number)
            if house
            else plural(number, "{n} file in the release", "{n} files in the release", number)
        )
        leaves = self._group(title, icon="open-eye", size=size_text(bundle.size))
        for name, data in bundle.files.items():
            item = QTreeWidgetItem(leaves, [name, size_text(len(data))])
            item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            item.setToolTip(0, tr("<p>{name}</p>", meaning(name)))
            item.setData(0, Qt.ItemDataRole.UserRole, name)
        if house:
            kept = len(bundle.stays)
            words = plural(
                kept,
                "{n} file stays with staff: the dossier, CONFIDENTIAL",
                "{n} files stay with staff: the dossier, CONFIDENTIAL",
                kept,
            )
            stays = self._group(words, icon="shield", size="")
            stays.setFirstColumnSpanned(True)
            for name, words in bundle.stays:
                item = QTreeWidgetItem(stays, [name, ""])
                item.setToolTip(0, tr("<p>{words}</p>", words))
                item.setForeground(0, self.palette().placeholderText())
        self.expandAll()
        names = list(bundle.files)
        if (current := leaves.child(names.index(chosen) if chosen in names else 0)) is not None:
            self.setCurrentItem(current)

    def _group(self, title: str, *, icon: str, size: str) -> QTreeWidgetItem:
        group = QTreeWidgetItem(self, [translate(title), size])
        font = self.font()
        font.setBold(True)
        group.setFont(0, font)
        group.setIcon(0, icons.icon(icon))
        group.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return group


class WrittenPage(QTextBrowser):
    """A text of the bundle as a page. Somebody else may have written it: nothing else is loaded."""

    def __init__(self) -> None:
        super().__init__(openLinks=False)
        self.document().setDocumentMargin(2 * GRID)

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        return None

    def show_text(self, text: str) -> None:
        """Show a text in Markdown; what looks like HTML in it is shown as it is written."""
        features = QTextDocument.MarkdownFeature
        self.document().setMarkdown(text, features.MarkdownDialectGitHub | features.MarkdownNoHTML)


class FilesPanel(QWidget):
    """The tree at the left, the chosen file's bytes at the right."""

    def __init__(self) -> None:
        super().__init__(accessibleName=tr("Files"))
        self.tree = connected(FileTree(), currentItemChanged=lambda now, _: self._choose(now))
        self.bundle: Bundle | None = None
        self.title = Label(role="section")
        self._meaning = Label(wordWrap=True, role="quiet")
        self._all = push_button(message("Show all of it"), self._show_all)
        self.preview = named(QPlainTextEdit(readOnly=True), message("Content of the file"))
        self.preview.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.preview.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.page = named(WrittenPage(), message("Content of the file, as a page"))
        head = in_row((self.title, 1), self._all)
        self.right = in_column(head, self._meaning, (self.preview, 1), (self.page, 1), spacing=GRID // 2)
        self.left = in_column((self.tree, 1), spacing=GRID)
        in_row((self.left, 2), (self.right, 3), on=self, margins=0, spacing=2 * GRID)

    def show_bundle(self, bundle: Bundle | None, *, house: bool) -> None:
        """Show a bundle; ``None`` empties the panel."""
        self.bundle = bundle
        if bundle is None:
            self.tree.clear()
            self._choose(None)
            return
        self.tree.show_files(bundle, house=house)

    def _choose(self, item: QTreeWidgetItem | None) -> None:
        name = None if item is None else item.data(0, Qt.ItemDataRole.UserRole)
        kept = {} if self.bundle is None else dict(self.bundle.stays)
        stays = "" if item is None else kept.get(item.text(0), "")
        self._all.hide()
        written = str(name).endswith(".md")
        self.page.setVisible(written)
        self.preview.setVisible(not written)
        if self.bundle is None or name is None:
            self.title.setText(translate(item.text(0) if stays and item is not None else ""))
            self._meaning.setText(translate(message("{stays} It stays with staff.", stays) if stays else ""))
            self.preview.clear()
            return
        data = self.bundle.files[name]
        self.title.setText(tr("{name} \u00b7 {data}", name, size_text(len(data))))
        self._meaning.setText(translate(meaning(name)))
        text = data.decode("utf-8", errors="replace")
        self._all.setVisible(len(text) > AT_FIRST and not written)
        if written:
            self.page.show_text(text)
        self.preview.setPlainText(text[:AT_FIRST])

    def _show_all(self) -> None:
        item = self.tree.currentItem()
        name = None if item is None else item.data(0, Qt.ItemDataRole.UserRole)
        if self.bundle is not None and name is not None:
            self._all.hide()
            data = self.bundle.files[name]
            self.preview.setPlainText(data.decode("utf-8", errors="replace"))
