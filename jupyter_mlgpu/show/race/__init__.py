"""The page of a race."""
