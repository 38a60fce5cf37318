"""`%%mlc_race`: the same cell, timed on one device after another. Nothing in here imports IPython."""
