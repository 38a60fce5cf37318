"""What the lessons' notebooks import.

`check` an answer, `predict` an outcome, `cmp` two tensors; see a graph's `picture`, a `chart`, a table of
`figures`, the memory in use `memory_during` some work, your `progress`, and which `device` computes; start
`engines` for what needs several machines; `assert_gpu_used`, `peak_below` and `faster_than` judge what was
measured, `submitted` what a notebook that was handed in has. `text` and `data` have what the lessons learn
from. They answer in English, or in what `speak` chooses.
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
    "speak",
    "submitted",
    "text",
]
