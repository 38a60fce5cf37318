"""One check a module: TITLE and `judge(facts)`; see `jupyter_mlgpu.explain.doctor.check`."""
