"""Hints and likely mistakes of the exercises, one module per lesson: `COACHING`, by exercise name."""
