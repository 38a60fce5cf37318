"""Alias of `graphs/planning/`, which plans graphs without running them."""

from jupyter_mlgpu._aliases import alias_package

alias_package(__name__, "jupyter_mlgpu.graphs.planning")
