"""Records into something to read: text, HTML, a MIME bundle, a report. Pure functions of records."""
