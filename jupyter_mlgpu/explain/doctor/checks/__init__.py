"""One check a module: ID, TITLE and `judge(facts)`; see `jupyter_mlgpu.explain.doctor.check`."""
