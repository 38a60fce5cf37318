"""The door to measuring how fast this machine computes, which is called: `experiment/bench/`."""

from jupyter_mlgpu._doors import open_door

open_door(__name__, "jupyter_mlgpu.experiment.bench")
