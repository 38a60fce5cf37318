"""What a process was doing while a cell ran: the stack of its thread from time to time, and some counters.

Data for `explain/limits`, which says what of it held the cell up. A cell under 50 ms is never looked at.
"""
