"""Traces recurrent layers for few steps of time: all steps have the same operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jupyter_mlgpu.graphs.mps.operation_recording import OperationRecording

#: The steps that are traced. On MPS an LSTM is one operation however many there are.
_STEPS = {"lstm": 1, "gru": 8, "rnn_tanh": 8, "rnn_relu": 8}


def is_call(name: str, given: tuple[Any, ...], named: Mapping[str, Any]) -> bool:
    """Return True for a call of a recurrent layer, but not with packed sequences.

    With them the fourth argument is the weights, and otherwise says whether there are biases.
    """
    return name in _STEPS and not named and len(given) == 9 and isinstance(given[3], bool)


def shortened(
    recording: OperationRecording, name: str, call: Callable[..., Any], given: tuple[Any, ...]
) -> Any:
    """Call a recurrent layer with the first steps of its input, and return results of the full length."""
    values, *rest = given
    time = 1 if given[-1] else 0  # the last argument says whether the batch comes first
    length, steps = values.shape[time], _STEPS[name]
    if length > steps:
        values = recording.hidden(lambda: given[0].narrow(time, 0, steps))
        if name != "lstm":
            recording.values.shorten(steps, length)
    if name == "lstm":
        out, *states = recording.as_one(name, lambda: call(values, *rest), given)
    else:
        out, *states = call(values, *rest)
    if length > steps:
        shape = [length if at == time else size for at, size in enumerate(out.shape)]
        first = out
        out = recording.hidden(lambda: first.narrow(time, 0, 1).expand(shape).contiguous())
    return (out, *states)
