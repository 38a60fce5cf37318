"""Lessons, labs, submissions, what students share, and the teacher's service."""
