"""Turns the run of a notebook cell into a record and a receipt."""
