"""What the lessons' notebooks import: `check` an answer, `predict` an outcome, see a graph's `picture`."""

from jupyter_mlgpu.lessons.exercises import check
from jupyter_mlgpu.lessons.graphs import picture
from jupyter_mlgpu.lessons.predicting import predict

__all__ = ["check", "picture", "predict"]
