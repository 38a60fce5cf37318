"""Deliberate repetition: the timing loop, races, benchmarks."""
