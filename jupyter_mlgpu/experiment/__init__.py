"""Repeated runs on request: the timing loop, races, benchmarks."""
