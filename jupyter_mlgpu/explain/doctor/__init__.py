"""Finds what is wrong with an environment: gathers facts once, then judges them by checks.

`facts.py` defines the facts, and `gather/` reads them on this machine. `checks/` judge them, one module per
check, and so does `version_pairs.py`, one row per check. `diagnose.py` runs all checks. Nothing is repaired,
and no module prints.
"""
