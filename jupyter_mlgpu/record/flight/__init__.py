"""The account that a kernel keeps of itself, and that outlives it: its form, and where it lies."""
