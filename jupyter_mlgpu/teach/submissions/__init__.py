"""Submitted notebooks: the records saved in them, and inconsistencies of these records.

No code is run; only what the student's own runs left in the file is read.
"""

from jupyter_mlgpu.teach.submissions.inconsistencies import find_inconsistencies
from jupyter_mlgpu.teach.submissions.reading import SavedCell, SavedRecord, Submission, read

__all__ = ["SavedCell", "SavedRecord", "Submission", "find_inconsistencies", "read"]
