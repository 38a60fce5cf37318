"""Alias of `explain/logs/`, which reads native log lines."""

from jupyter_mlgpu._aliases import alias_package

alias_package(__name__, "jupyter_mlgpu.explain.logs")
