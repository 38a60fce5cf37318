"""Benchmarks: how fast this machine computes, with spread, and beside published figures."""
