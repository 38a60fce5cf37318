"""Compare runs of cells, and judge if a difference is real."""
