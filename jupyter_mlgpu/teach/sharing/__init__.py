"""What a student agrees to show the teacher: which fields of the records leave, and how they are sent."""
