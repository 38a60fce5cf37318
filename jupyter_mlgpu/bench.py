"""Alias of `experiment/bench/`, the callable package that benchmarks this machine."""

from jupyter_mlgpu._aliases import alias_package

alias_package(__name__, "jupyter_mlgpu.experiment.bench")
