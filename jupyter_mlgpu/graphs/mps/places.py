"""Finds the line of the user's code, and the layer, in which an operation was called."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Literal

import jupyter_mlgpu
from jupyter_mlgpu.graphs.mps.traced import CodePlace
from jupyter_mlgpu.measure.runtime import current
from jupyter_mlgpu.record.sentence import Sentence, say

#: `torch` is PyTorch's and what lies around a call (Python's own library, this package).
Owner = Literal["torch", "optimizer", "library", "user"]

_OURS = str(Path(jupyter_mlgpu.__file__).parent)
#: The folders of installed packages: of an environment, of a system's Python, of a user.
_LIBRARIES = ("/site-packages/", "/dist-packages/")
#: The file name of what is written after `%mlc_plan`.
MAGIC_LINE = "<%mlc_plan>"
#: Folders of PyTorch whose code chooses operations by the device, beside `torch.functional` and optimizers.
_PYTORCHS_CHOICES = ("distributions/", "nn/modules/", "nn/utils/")
_PYTHON = sysconfig.get_path("stdlib")


def find(end: CodeType, layers: Mapping[int, str]) -> tuple[CodePlace, bool]:
    """Return where the running operation was called, and whether an optimizer called it.

    The stack is read up to the frame that runs `end`. The innermost line of the user's own files counts; if
    there is none, that of a library. `layers` has the names of modules by identity.
    """
    frame = sys._getframe(1)
    layer: str | None = None
    library: tuple[str, int] | None = None
    optimizer = False
    while frame.f_back is not None and frame.f_code is not end:
        code = frame.f_code
        owner = owner_of(code.co_filename)
        if owner == "user":
            cell = current().of_user(code.co_filename) or 0
            return CodePlace(code.co_filename, frame.f_lineno or 0, layer or "", cell), optimizer
        if owner == "optimizer":
            optimizer = True
        elif owner == "library" and library is None:
            library = code.co_filename, frame.f_lineno or 0
        elif layer is None and code.co_name == "_call_impl":
            layer = layers.get(id(frame.f_locals.get("self")))
        frame = frame.f_back
    return CodePlace(*(library or ("", 0)), layer or ""), optimizer


def line_name(place: CodePlace) -> Sentence:
    """Return the name of a place's line for people, as `line 7 of [3]` or `line 7 of model.py`."""
    line, file = str(place.line), Path(place.file)
    if place.cell:
        return say("line {line} of [{cell}]", line=line, cell=str(place.cell))
    if place.file == MAGIC_LINE:
        return say("the line of {magic}", magic="%mlc_plan")
    if file.is_file() and "ipykernel_" not in place.file:
        return say("line {line} of {file}", line=line, file=file.name)
    return say("line {line}", line=line)


@cache
def sees_mps(file: str) -> bool:
    """Return True for code that is to see tensors on MPS: all but PyTorch's own for fake tensors."""
    if owner_of(file) != "torch":
        return True
    inside = file.replace("\\", "/").rpartition("-packages/torch/")[2]
    return inside == "functional.py" or inside.startswith(_PYTORCHS_CHOICES)


@cache
def owner_of(file: str) -> Owner:
    """Return whose a file of Python code is."""
    if file.startswith(_OURS):
        return "torch"
    name = file.replace("\\", "/")
    library = next((one for one in _LIBRARIES if one in name), None)
    if library is not None:
        inside = name.partition(library)[2]
        if inside.startswith("torch/optim/"):
            return "optimizer"
        return "torch" if inside.startswith("torch/") else "library"
    if file.startswith(("<frozen", "<string", _PYTHON)):
        return "torch"
    return "user"
