"""Activity of a process while a cell runs: stack samples of the cell's thread, and counters.

`explain/limits` finds from this what limited the cell. A cell under 50 ms is never sampled.
"""
