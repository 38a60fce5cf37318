"""The door to measuring how fast this machine computes, which is called: `experiment/bench/`."""

from jupyter_mlgpu._aliases import alias_package

alias_package(__name__, "jupyter_mlgpu.experiment.bench")
