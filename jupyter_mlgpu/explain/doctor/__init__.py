"""What is wrong with an environment: facts gathered once, then judged by checks.

`facts.py` says what is known of a machine, `gather/` reads it here. `checks/` judge it, a file each, and so
does `version_pairs.py`, a row each; `diagnose.py` runs them. Nothing is repaired, and nothing here prints.
"""
