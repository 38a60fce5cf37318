"""Feedback pages that can do nothing but be read.

A student's text becomes part of a page that a teacher opens: it could hold a script, which would run with all
that the teacher may. A content security policy, the first thing in the page, lets the browser refuse every
script, form, frame and address; formulas then stay as they were typed.
"""

from __future__ import annotations

import re

from jupyter_mlgpu.record.errors import GradingError

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; "
    "base-uri 'none'; form-action 'none'"
)
_META = f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
# nbgrader's own beginning of a page; what is a student's comes after it.
_BEGINNING = re.compile(r"\s*<!DOCTYPE html>\s*<html[^<>]*>\s*<head[^<>]*>", re.IGNORECASE)
# A page may send its reader to another by itself, which no policy forbids; nbgrader's own `meta` does not.
_META_OF_OTHERS = re.compile(r'(?i)<(?=meta\b(?! charset="utf-8" />))')


def inert(page: str) -> str:
    """The page with the policy in it. Raises GradingError for a page that does not begin as nbgrader's do."""
    begun = _BEGINNING.match(page)
    if begun is None:
        raise GradingError(
            "A page of feedback does not begin as nbgrader's pages do, so it could not be made safe to open; "
            "use nbgrader's own template."
        )
    if page.startswith(_META, begun.end()):
        return page
    return page[: begun.end()] + _META + _META_OF_OTHERS.sub("&lt;", page[begun.end() :])
