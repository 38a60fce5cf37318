"""Time per operation: a profile's events, and the arithmetic on them. No framework, no notebook."""
