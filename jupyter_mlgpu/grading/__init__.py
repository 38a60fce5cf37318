"""Grading what strangers wrote: their code runs in a sandbox, what judges it runs outside.

`sandbox` finds a place that holds, and proves it; `inmate` is the program that runs a student's cells there;
`student` starts it, asks it and ends it; `codec` is all that crosses. `cells` says which cell is whose, `judge` runs
the teacher's tests, `measure` takes times and memory again, and `autograding` joins all that with nbgrader.
"""
