"""What leaves the house and what stays, file by file, with every public byte to look at."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase, QTextOption
from PySide6.QtWidgets import (
    QHeaderView,
    QPlainTextEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from tabprotect.gui.look import icons
from tabprotect.gui.look.buttons import named, push_button
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column, in_row
from tabprotect.gui.look.theme import GRID, tabular
from tabprotect.gui.pages.release.bundle_shown import Bundle, meaning, size_text
from tabprotect.languages.said import say
from tabprotect.languages.speaking import tell, told

AT_FIRST = 40_000
"""Characters of a file that are shown before all is asked for."""


class FileTree(QTreeWidget):
    """Two groups: what leaves, and (in the house) what stays."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(tell("Files that leave the house and files that stay"))
        self.setColumnCount(2)
        self.setHeaderHidden(True)
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.header().setStretchLastSection(False)
        self.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)

    def show_files(self, bundle: Bundle, *, house: bool) -> None:
        """List the files; the current one stays so, else the first becomes it."""
        before = self.currentItem()
        kept = None if before is None else before.text(0)
        self.clear()
        self.setFont(tabular(self.font()))
        title = say("Leaves the house") if house else say("In the bundle")
        leaves = self._group(title, icon="open-eye", size=size_text(bundle.size))
        for name, data in bundle.files.items():
            item = QTreeWidgetItem(leaves, [name, size_text(len(data))])
            item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            item.setToolTip(0, tell("<p>{name}</p>", meaning(name)))
            item.setData(0, Qt.ItemDataRole.UserRole, name)
        if house:
            stays = self._group(say("Stays: the dossier, CONFIDENTIAL"), icon="shield", size="")
            stays.setFirstColumnSpanned(True)
            for name, words in bundle.stays:
                item = QTreeWidgetItem(stays, [name, ""])
                item.setToolTip(0, tell("<p>{words}</p>", words))
                item.setForeground(0, self.palette().placeholderText())
        self.expandAll()
        rows = sum(1 + g.childCount() for g in (leaves, *([stays] if house else [])))
        height = self.fontMetrics().height() + 4
        self.setMaximumHeight(max(min(rows, 20), 6) * height + 2 * self.frameWidth())
        names = list(bundle.files)
        current = leaves.child(names.index(kept) if kept in names else 0)
        if current is not None:
            self.setCurrentItem(current)

    def _group(self, title: str, *, icon: str, size: str) -> QTreeWidgetItem:
        group = QTreeWidgetItem(self, [told(title), size])
        font = self.font()
        font.setBold(True)
        group.setFont(0, font)
        group.setIcon(0, icons.icon(icon))
        group.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return group


class FilesPanel(QWidget):
    """The tree at the left, the chosen file's bytes at the right."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(tell("Files"))
        self.tree = FileTree()
        self.tree.currentItemChanged.connect(lambda now, _: self._choose(now))
        self.bundle: Bundle | None = None
        self.title = Label(role="section")
        self._meaning = Label(wordWrap=True, role="quiet")
        self._all = push_button(say("Show all of it"), self._show_all)
        self.preview = named(QPlainTextEdit(readOnly=True), say("Content of the file"))
        self.preview.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.preview.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        head = in_row((self.title, 1), self._all)
        self.right = in_column(head, self._meaning, (self.preview, 1), spacing=4)
        self.left = in_column((self.tree, 3), spacing=GRID)
        in_row((self.left, 2), (self.right, 3), on=self, margins=0, spacing=2 * GRID)

    def controls(self) -> list[QWidget]:
        """What takes the keyboard beside the tree, in reading order."""
        return [self._all, self.preview]

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
        if self.bundle is None or name is None:
            self.title.setText(told(item.text(0) if stays and item is not None else ""))
            self._meaning.setText(
                told(say("{stays} It never leaves the house.", stays) if stays else "")
            )
            self.preview.clear()
            return
        data = self.bundle.files[name]
        self.title.setText(tell("{name} \u00b7 {data}", name, size_text(len(data))))
        self._meaning.setText(told(meaning(name)))
        text = data.decode("utf-8", errors="replace")
        self._all.setVisible(len(text) > AT_FIRST)
        self.preview.setPlainText(text[:AT_FIRST])

    def _show_all(self) -> None:
        item = self.tree.currentItem()
        name = None if item is None else item.data(0, Qt.ItemDataRole.UserRole)
        if self.bundle is not None and name is not None:
            self._all.hide()
            data = self.bundle.files[name]
            self.preview.setPlainText(data.decode("utf-8", errors="replace"))
