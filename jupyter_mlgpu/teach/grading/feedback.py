"""Feedback pages that cannot run code in the teacher's browser.

A student's text becomes part of a page that the teacher opens. A script in it would run with the teacher's
rights. A content security policy, the first thing in the page, makes the browser refuse every script, form,
frame and address. Formulas therefore stay as they were typed.
"""

from __future__ import annotations

import re

from jupyter_mlgpu.record.errors import GradingError

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; "
    "base-uri 'none'; form-action 'none'"
)
_META = f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
# nbgrader's own beginning of a page; text of a student comes only after it.
_BEGINNING = re.compile(r"\s*<!DOCTYPE html>\s*<html[^<>]*>\s*<head[^<>]*>", re.IGNORECASE)
# A `meta` tag can redirect the reader, and no policy forbids that. nbgrader's own tag sets the charset; some
# versions of its HTML parser leave out the blank.
_META_OF_OTHERS = re.compile(r'(?i)<(?=meta\b(?! charset="utf-8" ?/?>))')


def make_inert(page: str) -> str:
    """Return the page with the policy; raises GradingError if it does not begin like nbgrader's pages."""
    begun = _BEGINNING.match(page)
    if begun is None:
        raise GradingError(
            "A page of feedback does not begin as nbgrader's pages do, so it could not be made safe to open; "
            "use nbgrader's own template."
        )
    if page.startswith(_META, begun.end()):
        return page
    return page[: begun.end()] + _META + _META_OF_OTHERS.sub("&lt;", page[begun.end() :])
