"""Grading what strangers wrote: their code runs in a sandbox, what judges it runs outside.

`sandbox` has the places, `sealed` what they cover of this package, `probe` proves that one holds, `limits`
is what a submission may take. `sandbox_worker` is the program that runs a student's cells there; `process`
starts and ends it and asks it over a `channel`, `waiting` says when its work is over, `student` starts it
again when it dies. `codec` is all that crosses, `outputs` what may be shown. `cells` says which cell is
whose, `judge` runs the teacher's tests, `measure` takes times and memory again, and `autograding` joins all
that with nbgrader;
`feedback` makes its pages safe to open. `withheld` says what of a lab no student gets.
"""
