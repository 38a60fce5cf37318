"""`%%mlc_race`: time the same cell on one device after another. Nothing in here imports IPython."""
