"""The documentation as one PDF: ``python packaging/documentation_pdf.py [OUT.pdf]``.

Built from the site's own pages, without decision records; takes the extra ``report`` (WeasyPrint).
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "build" / "tabprotect.pdf"
PRINT = """
@page { size: A4; margin: 20mm; @bottom-center { content: counter(page); font-size: 8pt } }
body { font-family: "DejaVu Sans", sans-serif; font-size: 9pt }
pre { white-space: pre-wrap; font-size: 7.5pt } img { max-width: 100% } table { font-size: 8pt }
.listed { break-after: page } .listed ul ul { display: none }
.listed li { list-style: none } .listed a { color: inherit; text-decoration: none }
.listed li a::after { content: leader(" . ") target-counter(attr(href), page) }
.body > section > section > .toctree-wrapper > span { display: block; break-before: page }
.headerlink, .related, .footer { display: none }
"""


def for_paper(text: str) -> str:
    """The page without scripts, its list of contents before all else."""
    text = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    before, begin, after = text.partition('<div class="document">')
    body, _, contents = after.partition('<div class="sphinxsidebar"')
    contents, clear, rest = contents.partition('<div class="clearer">')
    return "".join([before, '<div class="listed"', contents, begin, body, clear, rest])


def main() -> None:
    """Build the site as one page, and print that."""
    from weasyprint import CSS, HTML

    out = Path(sys.argv[1]) if len(sys.argv) > 1 else OUT
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        site = ROOT / "resources" / "docs" / "site"
        # Basic pages: the theme's drawers mean nothing on paper.
        words = [sys.executable, "-m", "sphinx", "-q", "-b", "singlehtml", "-D", "html_theme=basic"]
        # Paper sets no MathML.
        words += ["-D", "html_math_renderer=drawn"]
        subprocess.run([*words, str(site), folder], check=True)
        page = Path(folder, "index.html")
        page.write_text(for_paper(page.read_text("utf-8")), encoding="utf-8")
        HTML(filename=str(page)).write_pdf(out, stylesheets=[CSS(string=PRINT)])
    print(out)


if __name__ == "__main__":
    main()
