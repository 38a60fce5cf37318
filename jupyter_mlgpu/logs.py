"""The door to reading native log lines: `explain/logs/`."""

from jupyter_mlgpu._doors import open_door

open_door(__name__, "jupyter_mlgpu.explain.logs")
