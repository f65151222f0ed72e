"""Which groups of lines the page shows: those that the report prints."""

from __future__ import annotations

from tabprotect.engine.bundle.check_lines import CheckGroup, bundle_files, honesty, protection
from tabprotect.engine.project.project import Project
from tabprotect.gui.pages.release.bundle_shown import Bundle


def groups_of(project: Project, bundle: Bundle | None, *, house: bool) -> list[CheckGroup]:
    """The groups, once the bundle is made; outside the house what its reader can check."""
    if bundle is None:
        return []
    groups = [bundle_files(bundle.checks)]
    done = project.protected
    if not house or done is None or bundle.summary is None:
        return groups
    return [protection(done, bundle.summary, done.record.verdict), honesty(done), *groups]
