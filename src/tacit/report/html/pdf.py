"""A page as PDF, printed from the same HTML."""

from __future__ import annotations

from tacit.errors import InputError, MissingExtra


def as_pdf(text: str) -> bytes:
    """A page as the bytes of a PDF file; nothing is fetched from anywhere.

    Raises a MissingExtra without WeasyPrint, and an InputError without the library it draws with.
    """
    try:
        from weasyprint import HTML
        from weasyprint.urls import URLFetcher
    except ImportError:
        raise MissingExtra("weasyprint", extra="pdf", purpose="reports as PDF") from None
    except OSError:  # Pango is no Python package
        raise InputError(
            "reports as PDF need the library Pango.",
            hint="Install it (Debian: apt install libpango-1.0-0 libpangoft2-1.0-0), "
            "or write FILE.html and print it.",
        ) from None
    inside = URLFetcher(allowed_protocols=["data"])  # a page has all that it shows within itself
    drawn: bytes = HTML(string=text, url_fetcher=inside).write_pdf()
    return drawn
