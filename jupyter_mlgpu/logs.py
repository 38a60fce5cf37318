"""The door to reading native log lines: `explain/logs/`."""

from jupyter_mlgpu._aliases import alias_package

alias_package(__name__, "jupyter_mlgpu.explain.logs")
