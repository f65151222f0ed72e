"""HTML pages as PDF, by weasyprint if that is installed."""

from __future__ import annotations

from tabprotect.engine.errors import InputError


def pdf_bytes(html: str) -> bytes:
    """The page as PDF; nothing that it names is fetched.

    Raises
    ------
    InputError
        When weasyprint, or a library that it needs, is not installed.
    """
    try:
        # An extra: HTML needs none of it.
        import weasyprint
        from weasyprint.urls import URLFetcher
    except (ImportError, OSError) as error:
        raise InputError(
            "a PDF takes weasyprint, which is not installed or not complete",
            hint='install it with: pip install "tabprotect[report]"; or write an .html file',
            detail=str(error),
        ) from None
    data = weasyprint.HTML(string=html, url_fetcher=URLFetcher(allowed_protocols=())).write_pdf()
    assert isinstance(data, bytes)
    return data
