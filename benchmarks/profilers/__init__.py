"""What tracing costs a training step, beside other notebook tools; `python -m benchmarks.profilers`."""
