"""What the gates of counts and of sums have in common: who signs, the seal, the foot."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from tabprotect.engine.project.copy_as_command import line
from tabprotect.engine.project.verbs.publish_verbs import publish
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Page
from tabprotect.gui.forms.banner import Banner
from tabprotect.gui.forms.save_as import ask_release
from tabprotect.gui.look.buttons import push_button, tool_button
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import filled
from tabprotect.gui.pages.release.publish_form import Fingerprint, PublishForm, Seal, SigningForm
from tabprotect.gui.pages.release.report_button import ReportButton
from tabprotect.languages.messages import message


class GatePage(Page):
    """The banner, the seal, who answers for a release, and the foot with what else may be done."""

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self.banner = Banner()
        self.seal = Seal()
        self.register = tool_button(message("Register of releases"), flat=True)
        self.signing = SigningForm()
        self.form = PublishForm()
        self.fingerprint = Fingerprint()
        self.report = ReportButton(self)
        filled(self.body, self.banner, self.seal)
        self.register.clicked.connect(lambda: document.page_asked.emit("register"))

    def _build_foot(self) -> None:
        """The note and the buttons below; last, as Tab goes."""
        self._note = Label(wordWrap=True, role="quiet")
        self.footer.addWidget(self._note, 1)
        self._copy_line = push_button(
            message("Copy as command"),
            self._copy_command,
            flat=True,
            tip=message("The command line that protects and publishes the same way."),
        )
        filled(
            self.footer,
            self._copy_line,
            self.report,
            push_button(message("Save as\u2026"), partial(ask_release, self)),
        )

    def _tables(self) -> Mapping[str, str] | None:
        """The tables that each get a bundle of their own."""
        return None

    def _copy_command(self) -> None:
        project, destination = self.document.project, self.form.destination()
        if project is None:
            return
        dossier = None if destination.dossier is None else str(destination.dossier)
        order = publish(release=str(destination.release), dossier=dossier, tables=self._tables())
        self.seal.to_clipboard(line(order.words(project)))
