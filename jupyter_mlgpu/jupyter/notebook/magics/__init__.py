"""The magics: parsing of their options, their commands, and the text they print."""
