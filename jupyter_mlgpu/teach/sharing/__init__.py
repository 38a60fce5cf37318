"""Sharing of records with the teacher, with the student's consent: the shared fields and the sender."""
