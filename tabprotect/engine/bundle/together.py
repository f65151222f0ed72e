"""Several bundles of one original read together: what their readers know. Confidential."""

from __future__ import annotations

from collections.abc import Sequence

from tabprotect.engine.bundle.verify import verify_bytes
from tabprotect.engine.disclosure.policy import HousePolicy
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.release.gate import Gate
from tabprotect.engine.release.release import Release
from tabprotect.engine.release.verdict import Verdict
from tabprotect.engine.tables.table import Table


def together(
    contents: Sequence[bytes],
    original: Table,
    *,
    policy: HousePolicy | Gate | None = None,
    release: Release | None = None,
    progress: Progress = SILENT,
) -> tuple[Verdict | None, int]:
    """What readers of several bundles of one original know, and of how many releases.

    Of those that have the original's own order of variables and categories: only these can be read
    together.

    Parameters
    ----------
    release
        One more, read beside them; without any of them there is nothing to tell.
    """
    found = [verify_bytes(content, progress=progress).release for content in contents]
    others = [one for one in found if one.domain == original.domain]
    if not others:
        return None, 0
    last = others.pop() if release is None else release
    said = verdict(last, policy, earlier=others, original=original, progress=progress)
    return said, len(others) + 1
