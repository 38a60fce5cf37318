"""Notebooks as they were handed in: the records saved in them, and what speaks against a record.

Nothing is run. What is read is what the student's own runs left in the file.
"""

from jupyter_mlgpu.teach.submissions.inconsistencies import find_inconsistencies
from jupyter_mlgpu.teach.submissions.reading import SavedCell, SavedRecord, Submission, read

__all__ = ["SavedCell", "SavedRecord", "Submission", "find_inconsistencies", "read"]
