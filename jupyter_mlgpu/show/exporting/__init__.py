"""Records and kept profiles in other tools' formats."""
