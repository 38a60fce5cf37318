"""Traces a PyTorch step to its operations, with their types, phases and lines, without running it.

The step runs on fake tensors, which have shapes and no values. Of the user's objects none is changed: see
`stand_ins.py`. Python code in the step does run, and what it prints is not shown.
"""

from __future__ import annotations

import io
import logging
import sys
import traceback
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any

from jupyter_mlgpu.graphs.mps import steps
from jupyter_mlgpu.graphs.mps.like_mps import like_mps
from jupyter_mlgpu.graphs.mps.modes import modes
from jupyter_mlgpu.graphs.mps.operation_recording import (
    OperationRecording,
    TooManyOperationsError,
)
from jupyter_mlgpu.graphs.mps.places import line_name, owner_of
from jupyter_mlgpu.graphs.mps.stand_ins import StandIns
from jupyter_mlgpu.graphs.mps.traced import CodePlace, Traced
from jupyter_mlgpu.measure.runtime import current
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
    furthest, refused = _traced(function, arguments, train, contrary)
    while refused is not None and refused not in contrary and len(contrary) < _CHECKS:
        contrary.add(refused)
        traced, refused = _traced(function, arguments, train, contrary)
        furthest = max(traced, furthest, key=lambda one: len(one.operations))
    return furthest


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
    is_module = isinstance(subject, Module)
    if not is_module:
        step = subject
    elif train:
        step = steps.training_step(subject, assumptions)
    else:
        step = steps.forward_pass(subject)
    with stand_ins.standing_in(subject, arguments):
        # A function gets NumPy's arrays as they are: it may turn them to tensors itself.
        given = stand_ins.of(tuple(map(_as_tensors, arguments)) if is_module else arguments)
        calls, operations = modes(recording, stand_ins)
        with _quiet(), like_mps(recording), mode, calls, operations:
            try:
                _run(step, given, grads=train or not is_module)
            except (Exception, SystemExit) as error:
                if not recording.operations:
                    raise _nothing(error, recording) from None
                refused = recording.values.last
                untraced.append(_reason(error, recording))
    if not recording.operations:
        raise PlanError(say("Nothing could be planned, because no operation of PyTorch was called."))
    accelerators = sorted(one for one in stand_ins.devices if not one.startswith(("cpu", "meta")))
    if len(accelerators) > 1:
        assumptions.append(
            say(
                "Tensors are on {devices}: they were taken to be on one GPU.", devices=", ".join(accelerators)
            )
        )
    untraced += dict.fromkeys(stand_ins.notes)
    assumptions += recording.values.sentences
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


def _reason(error: BaseException, recording: OperationRecording) -> Sentence:
    """Return where and why the trace ended, as one sentence."""
    if isinstance(error, TooManyOperationsError):
        return say(
            "The trace ended after {count} operations, at {place}, in a loop that is long or ends by a "
            "value. What comes after it is not covered.",
            count=sum(one.count for one in recording.operations),
            place=_place(recording),
        )
    return say(
        "The trace ended at {place}, and what comes after it is not covered: {error}.",
        place=_raised_at(error, recording),
        error=_in_words(error),
    )


def _nothing(error: BaseException, recording: OperationRecording) -> PlanError:
    """Return the error that says why no operation could be traced."""
    if isinstance(error, PlanError):
        return error
    return PlanError(
        say(
            "Nothing could be planned, because of an error at {place}, before the first operation: {error}. "
            "Does it run with these inputs?",
            place=_raised_at(error, recording),
            error=_in_words(error),
        )
    )


def _in_words(error: BaseException) -> Sentence:
    text = next((line.strip() for line in str(error).splitlines() if line.strip()), "").rstrip(".")
    kind = type(error).__name__
    if kind == "UnsupportedOperatorException":
        return say("PyTorch cannot trace {operation}", operation=text)
    return say("{kind}: {text}", kind=kind, text=text[:200] or say("no message"))


def _raised_at(error: BaseException, recording: OperationRecording) -> Sentence:
    """Return the innermost line of the user's code that an error came through, or the last operation's."""
    for frame, number in reversed([*traceback.walk_tb(error.__traceback__)]):
        file = frame.f_code.co_filename
        if owner_of(file) == "user":
            return line_name(CodePlace(file, number, cell=current().of_user(file) or 0))
    return _place(recording)


def _place(recording: OperationRecording) -> Sentence:
    if recording.last.line:
        return line_name(recording.last)
    return say("layer {layer}", layer=recording.last.layer) if recording.last.layer else say("the call")
