"""Settings: the policy of the house, one person's own choices, and where autosaved work lies."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QCheckBox, QDoubleSpinBox, QFormLayout, QLineEdit, QSpinBox, QTabWidget, QWidget

from tabprotect.engine.disclosure.policy import CHOICES, VARIABLE, AgencyPolicy, in_force, policy_file, write
from tabprotect.engine.errors import InputError, TabprotectError
from tabprotect.engine.plain_values.metadata import TABLE_TEXTS
from tabprotect.engine.release.findings import KINDS, LEFT_OUT
from tabprotect.engine.release.limits import Limits
from tabprotect.engine.release.mechanism import MOST_ATTEMPTS
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.gui.base.own_files import state_folder
from tabprotect.gui.base.preferences import Preferences
from tabprotect.gui.base.rule_field import RuleField
from tabprotect.gui.forms.about_sheet import text_fields, texts_in
from tabprotect.gui.frame.window import Window
from tabprotect.gui.look.buttons import (
    Dialog,
    Inside,
    ScrollsDown,
    choice,
    decision,
    named,
    present,
    push_button,
)
from tabprotect.gui.look.error_strip import ErrorStrip
from tabprotect.gui.look.file_dialogs import ask_folder
from tabprotect.gui.look.label import Label, heading
from tabprotect.gui.look.layouts import filled, held, in_column, in_row
from tabprotect.gui.look.theme import GRID, MARGIN, THEME, Mode
from tabprotect.languages.messages import capital, message
from tabprotect.languages.translation import LANGUAGES, tr, translate

WORDS = {
    "second_release": {
        "warn": message("warn"),
        "reason": message("ask for a reason"),
        "refuse": message("refuse"),
    },
    "together": {"warn": message("warn"), "reason": message("ask for a reason"), "refuse": message("refuse")},
    "insiders": {"tell": message("is told"), "judge": message("is judged")},
    "groups": {
        "tell": message("is told"),
        "judge": message("is judged of sensitive variables"),
        "judge_all": message("is judged of every variable"),
    },
    "unjudged": {"reason": message("ask for a reason"), "refuse": message("refuse")},
    "short_seed": {"warn": message("warn"), "refuse": message("refuse")},
    "kept_small": {
        "ask": message("ask each time"),
        "keep": message("they may go out"),
        "never": message("they never go out"),
    },
    "off_list": {"allowed": message("they may leave as well"), "reason": message("ask for a reason")},
    "no_change": {"tell": message("is told"), "refuse": message("refuse")},
}
SIGNATURES = (message("nobody"), message("one person"), message("two different people"))
"""By the number of signatures."""

INTRUDERS = (
    ("", message("no other reader")),
    ("positive", message("a reader who knows that somebody is in every cell")),
    ("uniform", message("a reader who assumes nothing")),
)
MODES: tuple[tuple[Mode, str], ...] = (
    ("system", message("as the system has it")),
    ("light", message("Light")),
    ("dark", message("Dark")),
    ("contrast", message("High contrast")),
)


Groups = list[tuple[str, Sequence[tuple[str, QWidget]]]]
"""Headings, and the fields below each with what they are called."""

FIELD = 25 * GRID
"""Pixels that a field of the policy is wide."""

SIZE = QSize(90 * GRID, 76 * GRID)
"""Of the dialog, where the screen has the room."""


class PolicyForm:
    """The limits of the house; read only where an environment variable names its file.

    Attributes
    ----------
    sections
        Title -> its fields.
    """

    def __init__(self, policy: AgencyPolicy, *, fixed: bool) -> None:
        self._given = policy
        self.belief = QDoubleSpinBox(
            minimum=0.5, maximum=0.999, singleStep=0.01, decimals=3, value=policy.belief_limit
        )
        self.shares = {name: _percent(getattr(policy, name)) for name in (*Limits.SHARES, "no_change_limit")}
        self.epsilon = QDoubleSpinBox(
            minimum=0.0, maximum=1000.0, singleStep=0.5, decimals=2, value=policy.epsilon_limit
        )
        self.epsilon.setSpecialValueText(tr("no limit"))
        self.sensitive = QLineEdit(
            ", ".join(policy.sensitive), placeholderText=tr("names, with commas between")
        )
        self.approvers = QLineEdit(
            ", ".join(f"{name} = {key}" for name, key in policy.approvers.items()),
            placeholderText=tr("NAME = PUBLIC KEY, with commas between; without any, people sign by name"),
        )
        self.retention = QSpinBox(
            minimum=0, maximum=100_000, singleStep=30, value=policy.retention_days, suffix=tr(" days")
        )
        self.retention.setSpecialValueText(tr("for ever"))
        self.standing = {kind: QLineEdit(policy.standing.get(kind, "")) for kind in KINDS}
        self.metadata = text_fields(policy.metadata)
        self.attempts = QSpinBox(minimum=1, maximum=MOST_ATTEMPTS, value=policy.attempts_at_most)
        self.own_rule = QCheckBox(tr("the same for every table"))
        self.rule = RuleField(message("counts from"))
        self.at_risk = held(in_row(self.own_rule, self.rule, 1, margins=0, spacing=GRID))
        self.own_rule.toggled.connect(self.rule.setEnabled)
        self.own_rule.setChecked(bool(policy.at_risk))
        self.rule.setEnabled(bool(policy.at_risk))
        if policy.at_risk:
            self.rule.show_rule(SmallCount.parse(policy.at_risk))
        self.intruder = choice(offered=dict(INTRUDERS), current=policy.intruder)
        self.choices = {
            name: choice(
                offered={one: WORDS[name][one] for one in CHOICES[name]}, current=getattr(policy, name)
            )
            for name in CHOICES
        }
        self.signatures = choice(offered=dict(enumerate(SIGNATURES)), current=policy.signatures)
        for field in self.standing.values():
            field.setPlaceholderText(tr("no standing reason"))
        told_by = (
            message("Set for everybody by the file that {VARIABLE} names.", VARIABLE)
            if fixed
            else message("Kept in {policy_file}; the command line goes by it too.", policy_file())
        )
        self.sections = {
            title: _section(first, groups, told_by, fixed=fixed) for title, first, groups in self._groups()
        }

    def _groups(self) -> list[tuple[str, str, Groups]]:
        """The sections: a title, what it is about, and its fields under their headings."""
        shares, choices = self.shares, self.choices
        known: Groups = [
            (
                message("A true count"),
                [
                    (message("A reader would know a count when more than so sure of it"), self.belief),
                    (message("Of the small counts may be known, at most"), shares["share"]),
                    (message("A guess at a small count may be right at most"), shares["mean_belief_limit"]),
                    (message("Of the small counts may be known to be small, at most"), shares["small_share"]),
                    (message("Small counts"), self.at_risk),
                    (message("Kept sums that are small"), choices["kept_small"]),
                ],
            ),
            (
                message("Readers"),
                [
                    (message("Also judged"), self.intruder),
                    (message("Somebody alone in a cell"), choices["insiders"]),
                    (message("Their chance of learning a small count, at most"), shares["insider_limit"]),
                    (message("What is learned of whole groups"), choices["groups"]),
                    (message("Variables that are sensitive in every table"), self.sensitive),
                ],
            ),
        ]
        leaves: Groups = [
            (
                message("Who answers"),
                [
                    (message("Who must sign a release"), self.signatures),
                    (message("Public keys of those who may sign"), self.approvers),
                    (message("Dossiers are kept"), self.retention),
                    (message("If not all that readers learn could be worked out"), choices["unjudged"]),
                ],
            ),
            (
                message("What left before"),
                [
                    (message("If this table has left before"), choices["second_release"]),
                    (
                        message("If readers would know too much together with earlier releases"),
                        choices["together"],
                    ),
                ],
            ),
            (
                message("Chance"),
                [
                    (message("How often the method may try again, at most"), self.attempts),
                    (message("Draws that would change nothing at all, at most"), shares["no_change_limit"]),
                    (message("If more would"), choices["no_change"]),
                    (message("Settings that somebody names"), choices["off_list"]),
                    (message("Privacy spent on one original (epsilon), at most"), self.epsilon),
                    (message("If a fixed seed could be guessed"), choices["short_seed"]),
                ],
            ),
        ]
        reasons = [(capital(LEFT_OUT[kind]), field) for kind, field in self.standing.items()]
        said = [(TABLE_TEXTS[name], field) for name, field in self.metadata.items()]
        return [
            (message("What readers may learn"), message("The limits that the gate goes by."), known),
            (message("Releases"), message("What is asked before a release leaves."), leaves),
            (
                message("Standing reasons"),
                message(
                    "Taken wherever something of that kind is not worked out, and kept in every "
                    "dossier. Without one a reason is asked for each time."
                ),
                [("", reasons)],
            ),
            (
                message("About all tables"),
                message("Goes with every table that leaves, unless the table says otherwise."),
                [("", said)],
            ),
        ]

    def policy(self) -> AgencyPolicy:
        """As it is set.

        Raises
        ------
        ParameterError
            With every wrong field.
        """
        set_here = {
            "belief_limit": round(self.belief.value(), 3),
            "epsilon_limit": round(self.epsilon.value(), 2),
            "attempts_at_most": self.attempts.value(),
            "at_risk": str(self.rule.rule) if self.own_rule.isChecked() else "",
            "intruder": self.intruder.currentData(),
            "sensitive": [name for part in self.sensitive.text().split(",") if (name := part.strip())],
            "signatures": self.signatures.currentData(),
            "two_signatures": self.signatures.currentData() == 2,
            "approvers": {
                name.strip(): key.strip()
                for one in self.approvers.text().split(",")
                if one.strip()
                for name, _, key in (one.partition("="),)
            },
            "retention_days": self.retention.value(),
            "standing": {
                kind: reason for kind, field in self.standing.items() if (reason := field.text().strip())
            },
            "metadata": texts_in(self.metadata),
            **{name: self._share(name) for name in self.shares},
            **{name: box.currentData() for name, box in self.choices.items()},
        }
        return AgencyPolicy.of(self._given.as_json() | set_here)

    def _share(self, name: str) -> float:
        """A share as it is set; one that was not touched keeps all its digits."""
        given = float(getattr(self._given, name))
        value = self.shares[name].value()
        return given if value == _percent(given).value() else round(value / 100, 4)


def _percent(share: float) -> QDoubleSpinBox:
    return QDoubleSpinBox(
        minimum=0.0, maximum=100.0, singleStep=1.0, decimals=1, suffix=translate(" %"), value=100 * share
    )


def _section(first: str, groups: Groups, told_by: str, *, fixed: bool) -> QWidget:
    """One section of the policy: a sentence, the fields under their headings, where it is kept."""
    inside = QWidget()
    column = in_column(Label(first, wordWrap=True), on=inside, margins=(0, MARGIN, GRID, 0), spacing=GRID)
    for title, rows in groups:
        if title:
            column.addSpacing(GRID)
            column.addWidget(heading(title))
        for text, field in rows:
            field.setAccessibleName(translate(text))
            field.setEnabled(not fixed)
            label = Label(text, wordWrap=True, buddy=field)
            if isinstance(field, QLineEdit):
                filled(column, label, field)
                continue
            field.setMinimumWidth(round(FIELD * THEME.scale))
            column.addLayout(in_row((label, 1), field, margins=0, spacing=2 * GRID))
    filled(column, 1, Label(told_by, wordWrap=True, role="quiet"))
    area = ScrollsDown()
    area.setWidget(inside)
    return area


class FolderField(QWidget):
    """A folder's name, and a button that chooses one."""

    def __init__(self, name: str, folder: Path | None, *, empty: str) -> None:
        super().__init__()
        self.field = named(
            QLineEdit(
                "" if folder is None else str(folder),
                placeholderText=translate(empty),
                clearButtonEnabled=True,
            ),
            name,
        )
        button = push_button(message("Choose\u2026"), self._ask, name=message("Choose: {name}", name))
        in_row((self.field, 1), button, on=self, margins=0)

    def folder(self) -> Path | None:
        """The folder; ``None`` for none.

        Raises
        ------
        InputError
            When there is no such folder.
        """
        if (text := self.field.text().strip()) and not os.path.isdir(text):
            raise InputError(
                message("there is no such folder"), file=text, hint=message("make it, or choose another")
            )
        return Path(text) if text else None

    def _ask(self) -> None:
        ask_folder(self, self.field.accessibleName(), self.field.text(), self.field.setText)


class SettingsDialog(Dialog):
    """Kept when *Save* is pressed; nothing before."""

    def __init__(self, window: Window) -> None:
        super().__init__(window, message("Settings"))
        self.window_ = window
        chosen, self._fixed = window.document.preferences, bool(os.environ.get(VARIABLE))
        self.errors = ErrorStrip()
        found = AgencyPolicy()
        try:
            found = in_force()
        except TabprotectError as error:
            self.errors.show_error(error)
        self.policy = PolicyForm(found, fixed=self._fixed)
        self.name = named(
            QLineEdit(chosen.name, placeholderText=tr("as releases are signed")), message("Your name")
        )
        self.public = FolderField(
            message("Folder of releases, public"), chosen.public_folder, empty=message("beside the table")
        )
        self.confidential = FolderField(
            message("Folder of dossiers, confidential"),
            chosen.confidential_folder,
            empty=message("beside the release"),
        )
        mine = self._mine(chosen)
        self.tabs = QTabWidget()
        self.tabs.addTab(mine, tr("You"))
        for title, section in self.policy.sections.items():
            self.tabs.addTab(section, translate(title))
        buttons, self.save, _ = decision(self, message("Save"), self._save)
        in_column(
            Label(message("Settings"), role="heading"),
            self.errors,
            (self.tabs, 1),
            buttons,
            on=self,
            margins=3 * GRID,
            spacing=2 * GRID,
        )
        self.resize((SIZE * THEME.scale).boundedTo(window.size()).expandedTo(self.minimumSizeHint()))

    def _mine(self, chosen: Preferences) -> QWidget:
        """Return what a person sets for themself."""
        self.mode = choice(message("Colours"), dict(MODES), current=THEME.mode)
        settings = self.window_.settings
        self.language = choice(
            message("Language"),
            {"": message("as the system has it"), **LANGUAGES},
            current="" if settings is None else str(settings.value("language", "") or ""),
            tip=message("from the next start on"),
        )
        self.autosave = QCheckBox(tr("Save unsaved work every minute, to recover it after a crash"))
        self.autosave.setChecked(chosen.autosave)
        where = Label(
            message(
                "It lies in {state_folder}, readable by you alone, until the program ends well. It "
                "holds the original.",
                state_folder(),
            ),
            wordWrap=True,
            role="quiet",
        )
        mine = Inside()
        column = in_column(
            Label(message("What you set for yourself; it changes no table."), wordWrap=True),
            on=mine,
            margins=(0, MARGIN, GRID, 0),
            spacing=2 * GRID,
        )
        for title, rows in (
            (
                message("Releases"),
                (
                    (message("Your name"), self.name),
                    (message("Releases (public)"), self.public),
                    (message("Dossiers (confidential)"), self.confidential),
                ),
            ),
            (
                message("The window"),
                (
                    (message("Colours"), self.mode),
                    (message("Language, from the next start on"), self.language),
                ),
            ),
        ):
            form = QFormLayout(verticalSpacing=GRID, horizontalSpacing=2 * GRID)
            form.setContentsMargins(0, 0, 0, 0)
            for text, field in rows:
                label = Label(text)
                # Its words in the middle of the field.
                label.setMinimumSize(round(FIELD * THEME.scale), field.sizeHint().height())
                label.setBuddy(field)
                form.addRow(label, field)
            column.addLayout(in_column(heading(title), form, margins=0, spacing=GRID))
        filled(
            column,
            in_column(heading(message("After a crash")), self.autosave, where, margins=0, spacing=GRID),
            1,
        )
        area = ScrollsDown()
        area.setWidget(mine)
        return area

    def every(self) -> Iterator[tuple[str, QWidget]]:
        """What can be set, by the words beside it."""
        for label in self.findChildren(Label):
            if (field := label.buddy()) is not None:
                yield label.text(), field
        for tick in (self.autosave,):
            yield tick.text(), tick

    def open_at(self, field: QWidget) -> None:
        """Open with the keyboard on one field, and that in sight."""
        section = next(
            n for n in range(self.tabs.count()) if present(self.tabs.widget(n)).isAncestorOf(field)
        )
        self.tabs.setCurrentIndex(section)
        self.open()
        field.setFocus(Qt.FocusReason.OtherFocusReason)
        for area in self.findChildren(ScrollsDown):
            if area.isAncestorOf(field):
                area.ensureWidgetVisible(field)

    def _save(self) -> None:
        try:
            preferences = Preferences(
                name=self.name.text().strip(),
                public_folder=self.public.folder(),
                confidential_folder=self.confidential.folder(),
                autosave=self.autosave.isChecked(),
            )
            if not preferences.apart:
                raise InputError(
                    message("public and confidential files would go into one folder"),
                    file=preferences.public_folder,
                    hint=message("choose another for one of them"),
                )
            if not self._fixed and (policy := self.policy.policy()) != _present():
                write(policy, policy_file())
        except TabprotectError as error:
            self.errors.show_error(error)
            return
        preferences.store(self.window_.settings)
        if self.window_.settings is not None:
            self.window_.settings.setValue("language", self.language.currentData())
        self.window_.document.set_preferences(preferences)
        THEME.apply(mode=self.mode.currentData())
        self.accept()


def _present() -> AgencyPolicy | None:
    try:
        return in_force()
    except TabprotectError:
        return None
