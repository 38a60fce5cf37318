"""What a process was doing while a cell ran: its main thread's stack from time to time, and the machine's counters.

Data for `explain/limits`, which says what of it held the cell up. A cell under 50 ms is never looked at.
"""
