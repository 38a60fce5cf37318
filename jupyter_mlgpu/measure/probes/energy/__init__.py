"""Energy while a cell runs: one module a kind of counter, and the arithmetic they share."""
