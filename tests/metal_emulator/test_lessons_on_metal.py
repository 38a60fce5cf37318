"""The first lessons, solved, with their work on a Metal device."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

#: A lesson, and a device on which something in it ran: the first has one cell with a framework, under `cpu`.
LESSONS = [
    pytest.param("00_start_here", "cpu:0", marks=pytest.mark.slow),
    pytest.param("02_adding_tensors", "gpu:0"),
    pytest.param("03_devices", "gpu:0", marks=pytest.mark.slow),
    pytest.param("01_reading_a_sick_machine", "gpu:0", marks=pytest.mark.slow),
]
NOTEBOOKS = Path(__file__).parents[2] / "notebooks"

# On a Mac Keras compiles nothing by XLA (`model_supports_jit` asks for the system); here it would, and fail.
AS_ON_A_MAC = """
import keras.src.trainers.trainer as _trainer
_trainer.model_supports_jit = lambda model: False
"""

#: The emulated device computes on the processor: what a GPU does in a second takes it minutes.
AS_LARGE_AS_A_PROCESSOR_CAN = ("side = 4_000", "side = 1_000")


def cells(lesson):
    solved = NOTEBOOKS / "solutions" / f"{lesson}.ipynb"
    data = json.loads((solved if solved.exists() else NOTEBOOKS / f"{lesson}.ipynb").read_text("utf-8"))
    return ["".join(cell["source"]) for cell in data["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize(("lesson", "device"), LESSONS)
def test_a_lesson_runs_on_metal(start_on_metal, lesson, device):
    notebook = start_on_metal()
    notebook.run("import tensorflow")
    notebook.run(AS_ON_A_MAC)
    assert notebook.run("%mlc_device gpu").status == "ok"
    used = set()
    for source in cells(lesson):
        told = notebook.run(source.replace(*AS_LARGE_AS_A_PROCESSOR_CAN))
        assert told.status == "ok", f"{source}\n{told.error}"
        used |= {one["device"] for each in told.receipts for one in each["device"]["ran_on"] or ()}
    assert device in used
