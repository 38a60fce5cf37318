"""The records of ipyparallel's engines, brought together on one clock: `jupyter_mlgpu.collect(client)`."""
