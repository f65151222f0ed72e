"""Make the files that a version writes, once, before it is given out: ``python tests/reference/forms/make.py``.

They are kept for ever beside those of earlier versions; ``tests/cli/test_forms.py`` opens all of them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

from tabprotect.cli.main import main
from tabprotect.engine.bundle import archive
from tabprotect.engine.project.history import History
from tabprotect.engine.project.saving import storage
from tabprotect.version import __version__

COUNTS = "region,sex,count\nc,f,9\nc,m,11\nb,f,7\nb,m,2\na,f,5\na,m,1\n"
FIRMS = "nace,region,ent,turnover\n" + "".join(
    f"{nace},{region},{nace}{region}{n},{10 + 7 * n}\n" for nace in "AB" for region in "ns" for n in range(5)
)
SECRET = "a passphrase of the fixtures\n"

COMMANDS = (
    "protect counts.csv --method random_rounding --accept made --no-page --out rounded.zip --dossier rounded-dossier.zip",
    "protect counts.csv --method cyclic_perturbation --accept made --no-page --out cycles.zip --dossier cycles-dossier.zip "
    "--dossier-key secret.txt",
    "tabulate firms.csv --by nace,region --measure turnover --holding ent --out sums.parquet",
    "protect sums.parquet --rule p=10 --accept made --no-page --out sums.zip --dossier sums-dossier.zip",
    "protect-set counts.csv --method random_rounding --table one=region*sex --table two=region --accept made --no-page --register none --out set",
)


def make(place: Path) -> None:
    """Write all of them into a folder, with the house's key and register below it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ |= {"TABPROTECT_HOME": "house", "LOGNAME": "anna"}
        os.chdir(folder)
        # Texts for people are compared where the same version wrote them; these outlive the version.
        archive.__version__ = f"{__version__} of the fixtures"
        Path("counts.csv").write_text(COUNTS)
        Path("firms.csv").write_text(FIRMS)
        Path("secret.txt").write_text(SECRET)
        Path("house").mkdir()
        # Drawn once for these files, and of no house.
        Path("house", "house.key").write_text(hashlib.sha256(b"forms").hexdigest() + "\n")
        Path("house", "house.key").chmod(0o600)
        for words in COMMANDS:
            if main(words.split()):
                sys.exit(f"could not be made: {words}")
        history, _ = History().apply("open_table", {"source": "counts.csv"})
        history, _ = history.apply("set_method", {"method": "random_rounding"})
        history, _ = history.apply("protect", {"accept": "made", "seed": 7})
        storage.save(history, Path("project.tabprotect"))
        Path("firms.csv").unlink()
        shutil.copytree(folder, place)


if __name__ == "__main__":
    make(Path(__file__).parent / __version__)
