"""Traces a PyTorch step to its operations, with their types, phases and lines, without running it.

The step runs on fake tensors, which have shapes and no values. Of the user's objects none is changed: see
`stand_ins.py`. Python code in the step does run, and what it prints is not shown.
"""

from __future__ import annotations

import io
import logging
import sys
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any

from jupyter_mlgpu.graphs.mps import steps
from jupyter_mlgpu.graphs.mps.like_mps import like_mps
from jupyter_mlgpu.graphs.mps.modes import modes
from jupyter_mlgpu.graphs.mps.operation_recording import (
    MOST,
    OperationRecording,
    TooManyOperationsError,
)
from jupyter_mlgpu.graphs.mps.stand_ins import StandIns
from jupyter_mlgpu.graphs.mps.traced import CodePlace, Traced
from jupyter_mlgpu.record.errors import PlanError
from jupyter_mlgpu.record.sentence import Sentence, say

#: Most checks of inputs that a step is traced once more for.
_CHECKS = 5


def trace(function: Any, arguments: tuple[Any, ...], *, train: bool) -> Traced:
    """Return the operations of a module's pass or step, or of a function.

    With `train`, a module's last argument is what it learns, and the step has a loss, a backward pass and an
    optimizer. A function is traced as it is. Where the code raises an error because of a value, as checks of
    inputs do, it is traced once more with another value. Raises PlanError if no operation could be traced.
    """
    contrary: set[CodePlace] = set()
    while True:
        traced, refused = _traced(function, arguments, train, contrary)
        if refused is None or refused in contrary or len(contrary) == _CHECKS:
            break
        contrary.add(refused)
    if not traced.operations:
        raise PlanError(*traced.untraced or (say("No operation of PyTorch was called."),))
    return traced


def _traced(
    function: Any, arguments: tuple[Any, ...], train: bool, contrary: Collection[CodePlace]
) -> tuple[Traced, CodePlace | None]:
    """Return a trace, and where the value was read that led to the error which ended it, or None."""
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import ShapeEnv
    from torch.nn import Module

    subject = steps.unwrapped(function)
    assumptions: list[Sentence] = []
    untraced: list[Sentence] = []
    # Sizes that depend on values are symbols, which `UnknownValues.sized` replaces.
    mode = FakeTensorMode(allow_non_fake_inputs=True, shape_env=ShapeEnv(), static_shapes=True)
    stand_ins = StandIns(mode)
    recording = OperationRecording(stand_ins, _run.__code__, contrary)
    refused: CodePlace | None = None
    if not isinstance(subject, Module):
        step = subject
    elif train:
        step = steps.training_step(subject, assumptions)
    else:
        step = steps.forward_pass(subject)
    with stand_ins.standing_in(subject, arguments):
        given = stand_ins.of(tuple(map(_as_tensors, arguments)))
        calls, operations = modes(recording, stand_ins)
        with _quiet(), like_mps(), mode, calls, operations:
            try:
                _run(step, given, grads=train or not isinstance(subject, Module))
            except Exception as error:
                refused = recording.values.last
                untraced.append(_reason(error, recording))
    accelerators = sorted(one for one in stand_ins.devices if not one.startswith(("cpu", "meta")))
    if len(accelerators) > 1:
        assumptions.append(
            say(
                "Tensors are on {devices}: they were taken to be on one GPU.", devices=", ".join(accelerators)
            )
        )
    assumptions += [*dict.fromkeys(stand_ins.notes), *recording.values.sentences]
    return Traced(recording.operations, tuple(assumptions), tuple(untraced)), refused


def _run(step: steps.Step, given: tuple[Any, ...], *, grads: bool) -> None:
    """Run the step. `places.find` reads the stack up to this frame."""
    from torch import set_grad_enabled

    with set_grad_enabled(grads):
        step(*given)


def _as_tensors(value: Any) -> Any:
    """Return NumPy arrays in a value as tensors that share their memory."""
    from torch import from_numpy
    from torch.utils._pytree import tree_map

    numpy = sys.modules.get("numpy")
    if numpy is None:
        return value
    return tree_map(lambda one: from_numpy(one) if isinstance(one, numpy.ndarray) else one, value)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what the step prints, and warnings and logs about fake tensors, from the notebook."""
    log = logging.getLogger("torch._subclasses.fake_tensor")
    disabled = log.disabled
    log.disabled = True
    try:
        with warnings.catch_warnings(), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        log.disabled = disabled


def _reason(error: Exception, recording: OperationRecording) -> Sentence:
    """Return where and why the trace ended, as one sentence."""
    if isinstance(error, TooManyOperationsError):
        return say(
            "The trace ended after {most} operations, at {place}: a loop there may end by a value. What "
            "comes after it is not covered.",
            most=MOST,
            place=_place(recording),
        )
    text = next((line.strip() for line in str(error).splitlines() if line.strip()), "").rstrip(".")
    return say(
        "The trace ended after {place}, and what comes after it is not covered: {kind}: {text}.",
        place=_place(recording),
        kind=type(error).__name__,
        text=text[:200] or say("no message"),
    )


def _place(recording: OperationRecording) -> Sentence:
    if recording.last.line:
        return say("line {line}", line=str(recording.last.line))
    return say("layer {layer}", layer=recording.last.layer) if recording.last.layer else say("its beginning")
