"""The operations of a step as plain data, as `trace` found them."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from jupyter_mlgpu.record.sentence import Sentence

Phase = Literal["forward", "backward", "optimizer"]


class CodePlace(Struct, frozen=True):
    """The line of the user's code that called an operation, and the layer that it ran in.

    `file` is empty and `line` 0 if only modules of PyTorch called it. `layer` is the module's path as in
    `named_modules`, or empty. `cell` is the execution count of the notebook's cell, 0 for other files.
    """

    file: str = ""
    line: int = 0
    layer: str = ""
    cell: int = 0


class TracedOperation(Struct, frozen=True):
    """An ATen operation with its overload (`add.Tensor`), by number types, ranks, phase and place.

    `dtypes` are the number types of its arguments and results (`float32`). `within` names the composite
    operation whose own code called it, or is empty.
    """

    operation: str
    dtypes: frozenset[str]
    ranks: frozenset[int]
    phase: Phase
    place: CodePlace
    within: str = ""
    count: int = 1


class Traced(Struct, frozen=True):
    """The operations of a step.

    `assumptions` say what stood for values that are known only when the step runs. `untraced` says what is
    not covered, and why.
    """

    operations: tuple[TracedOperation, ...]
    assumptions: tuple[Sentence, ...] = ()
    untraced: tuple[Sentence, ...] = ()
