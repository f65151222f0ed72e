"""The documentation site: `sphinx-build -W resources/docs/site build/site`, without the network."""

import os
import sys
from pathlib import Path

# Figures are drawn without a display.
os.environ["MPLBACKEND"] = "Agg"

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

from tabprotect import __version__  # noqa: E402
from tabprotect.engine.bundle import archive  # noqa: E402
from tabprotect.engine.project.saving import storage  # noqa: E402
from tabprotect.engine.query_space.table_server import ledger  # noqa: E402
from tabprotect.engine.register import register_tables  # noqa: E402

project = "tabprotect"
author = "The tabprotect developers"
project_copyright = "2026 The tabprotect developers, MIT licence"
version = release = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "numpydoc",
    "house_folder",
    "run_block",
    "shell_block",
    "serve_block",
    "reference_pages",
    "window_pictures",
    "search_words",
    "set_formulas",
]
root_doc = "index"
exclude_patterns = ["_ext", "worked"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "substitution"]
myst_substitutions = {
    "version": __version__,
    "bundle_form": archive.FORMAT_VERSION,
    "project_form": storage.FORMAT_VERSION,
    "register_form": register_tables.SCHEMA.version,
    "history_form": ledger.SCHEMA.version,
}
html_math_renderer = "mathml"
myst_heading_anchors = 3
# Links between documents that are included from the folder above lead to files, not to pages.
suppress_warnings = ["myst.xref_missing", "myst.header"]
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
python_maximum_signature_line_length = 88
numpydoc_show_class_members = False
# Options keep both their dashes.
smartquotes_action = "qe"
html_theme = "furo"
html_title = f"tabprotect {__version__}"
html_show_sourcelink = False
html_copy_source = False
