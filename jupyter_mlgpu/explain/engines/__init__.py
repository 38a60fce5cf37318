"""Collect the records of ipyparallel's engines on one clock: `jupyter_mlgpu.collect(client)`."""
