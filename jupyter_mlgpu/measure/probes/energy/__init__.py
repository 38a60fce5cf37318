"""Energy while a cell runs: one module for each kind of counter, and their common arithmetic."""
