"""Explain native log lines: group them (parse), explain them (catalogue), count them (reader, fold)."""
