"""Alias of `graphs/mlcompute/`, Apple's ML Compute as a library for learning."""

from jupyter_mlgpu._aliases import alias_package
from jupyter_mlgpu.record.extras import require

require("jupyter_mlgpu.mlcompute", "lessons", "numpy")

from jupyter_mlgpu.graphs.mlcompute import *

alias_package(__name__, "jupyter_mlgpu.graphs.mlcompute")
