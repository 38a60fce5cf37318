"""Graphs without running them: plans, and ML Compute's API."""
