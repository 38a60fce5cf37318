"""Renders records as text, HTML, a MIME bundle and a report. All are pure functions of records."""
