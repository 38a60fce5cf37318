"""Hints and likely mistakes, a module a lesson: `COACHING`, by the exercise's name."""
