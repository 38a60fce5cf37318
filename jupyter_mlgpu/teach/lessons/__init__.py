"""The public functions and modules that the lesson notebooks import.

`check` judges an answer, `predict` records a prediction, and `cmp` compares two tensors. `picture` draws a
graph, `chart` draws lines, `figures` makes a table, `images` shows arrays as grayscale pictures,
`memory_during` measures the memory in use while a function runs, and `replay` shows cells of another machine
with their strips. `progress` counts the checks passed so far, and `device` names the device that computes.
`engines` starts ipyparallel engines. `assert_gpu_used`, `peak_below` and `faster_than` judge measurements,
and `submitted` reads those of a notebook that was handed in. `text` and `data` provide training data. `speak`
chooses the language of all messages.
"""

from jupyter_mlgpu.record.language import speak
from jupyter_mlgpu.teach.lessons import data, text
from jupyter_mlgpu.teach.lessons.charts import chart
from jupyter_mlgpu.teach.lessons.checking import Exercise
from jupyter_mlgpu.teach.lessons.clusters import engines
from jupyter_mlgpu.teach.lessons.comparing import cmp
from jupyter_mlgpu.teach.lessons.counting import progress
from jupyter_mlgpu.teach.lessons.exercises import check
from jupyter_mlgpu.teach.lessons.graphs import picture
from jupyter_mlgpu.teach.lessons.images import images
from jupyter_mlgpu.teach.lessons.labs import assert_gpu_used, faster_than, peak_below, submitted
from jupyter_mlgpu.teach.lessons.machine import device
from jupyter_mlgpu.teach.lessons.memorycurves import memory_during
from jupyter_mlgpu.teach.lessons.predicting import predict
from jupyter_mlgpu.teach.lessons.replaying import replay
from jupyter_mlgpu.teach.lessons.tables import figures

__all__ = [
    "Exercise",
    "assert_gpu_used",
    "chart",
    "check",
    "cmp",
    "data",
    "device",
    "engines",
    "faster_than",
    "figures",
    "images",
    "memory_during",
    "peak_below",
    "picture",
    "predict",
    "progress",
    "replay",
    "speak",
    "submitted",
    "text",
]
