"""The flight recorder's file, which survives a dead kernel: its format and its location."""
