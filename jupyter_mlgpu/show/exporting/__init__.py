"""Exports of records and kept profiles in other tools' formats."""
