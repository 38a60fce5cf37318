"""Captures a cell's native output, shows it in order, and counts its lines."""
