"""Native output of a cell: taken, shown again in its order, and remembered line by line."""
