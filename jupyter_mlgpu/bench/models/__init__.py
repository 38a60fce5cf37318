"""The four published models that are measured, the ways to train them, and what each way needs.

`sizes` has their sizes, `options` the named options. What trains a model is in `torch_training`,
`jax_training`, `tensorflow_training` and `mlx_training`; none of them is imported before it is asked for.
"""
