"""The page of a check of results."""
