"""The door to planning graphs without running them: `graphs/planning/`."""

from jupyter_mlgpu._doors import open_door

open_door(__name__, "jupyter_mlgpu.graphs.planning")
