"""What Qt itself says, in the language in force: numbers in boxes, its own dialogs and menus."""

from __future__ import annotations

from PySide6.QtCore import QLibraryInfo, QLocale, QTranslator
from PySide6.QtWidgets import QApplication

from tabprotect.languages.speaking import ENGLISH, language


def speak_in_window(app: QApplication) -> QTranslator | None:
    """Let Qt speak the language in force; ``None`` in English, where nothing is changed."""
    if language() == ENGLISH:
        return None
    QLocale.setDefault(QLocale(language()))
    translator = QTranslator(app)
    folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    if translator.load(f"qtbase_{language()}", folder):
        app.installTranslator(translator)
    return translator
