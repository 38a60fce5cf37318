"""What was measured, as data: records, their files and their store, units, errors, sentences, redaction."""
