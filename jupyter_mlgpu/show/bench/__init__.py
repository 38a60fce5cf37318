"""The page of a benchmark run."""
