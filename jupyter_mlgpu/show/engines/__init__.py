"""The page of the records of several engines."""
