"""The door to what lessons use: `teach/lessons/`."""

from jupyter_mlgpu._doors import open_door
from jupyter_mlgpu.teach.lessons import *

open_door(__name__, "jupyter_mlgpu.teach.lessons")
