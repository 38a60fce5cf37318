"""What is wrong with an environment: facts gathered once, then judged by checks, a file each.

`facts.py` says what is known of a machine, `gather/` reads it here, `checks/` judge it, `diagnose.py` runs
them. Nothing is repaired, and nothing here prints.
"""
