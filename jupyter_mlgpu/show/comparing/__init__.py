"""The page of a comparison of records."""
