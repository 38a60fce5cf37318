"""Probes: each reads one quantity before and after a cell."""
