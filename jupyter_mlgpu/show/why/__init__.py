"""The page of a cell's limit."""
