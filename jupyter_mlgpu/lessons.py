"""Alias of `teach/lessons/`, the functions for lessons."""

from jupyter_mlgpu._aliases import alias_package
from jupyter_mlgpu.teach.lessons import *

alias_package(__name__, "jupyter_mlgpu.teach.lessons")
