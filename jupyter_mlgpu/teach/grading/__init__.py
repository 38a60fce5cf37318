"""Grading of untrusted code: students' cells run in a sandbox, the tests outside of it.

`sandbox` defines the sandboxes, `sealed` the folders of this package that they hide, `probe` proves that one
is tight, and `limits` bounds memory, processes and files. `sandbox_worker` is the program that runs a
student's cells inside. `process` starts, asks and ends it over a `channel`, `waiting` detects that it is
idle, and `student` restarts it after a crash. `codec` encodes all data that crosses, and `outputs` filters
what may be shown. `cells` tells the teacher's cells from the student's, `judge` runs the teacher's tests,
`measure` measures time and memory again, and `autograding` connects all this to nbgrader. `feedback` makes
nbgrader's pages safe to open. `withheld` finds the parts of a lab that students must not get.
"""
