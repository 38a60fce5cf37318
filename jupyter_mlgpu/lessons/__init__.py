"""What the lessons' notebooks import.

`check` an answer, `predict` an outcome, see a graph's `picture`; `assert_gpu_used`, `peak_below` and
`faster_than` judge what was measured.
"""

from jupyter_mlgpu.lessons.exercises import check
from jupyter_mlgpu.lessons.graphs import picture
from jupyter_mlgpu.lessons.labs import assert_gpu_used, faster_than, peak_below
from jupyter_mlgpu.lessons.predicting import predict

__all__ = ["assert_gpu_used", "check", "faster_than", "peak_below", "picture", "predict"]
