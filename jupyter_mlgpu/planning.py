"""The door to planning graphs without running them: `graphs/planning/`."""

from jupyter_mlgpu._aliases import alias_package

alias_package(__name__, "jupyter_mlgpu.graphs.planning")
