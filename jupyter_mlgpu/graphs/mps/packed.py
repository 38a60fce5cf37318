"""Traces packed sequences: PyTorch's code for them reads their lengths, which fake tensors have not.

The sizes of the batch at each step of time are a real tensor, and so is what is read from it. Lengths that
the step's own code made from numbers are known; others are taken to be the longest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any

from jupyter_mlgpu.graphs.mps.operation_recording import OperationRecording

#: The steps of time that a layer is traced for.
_STEPS = 8
_LAYERS = ("lstm", "gru", "rnn_tanh", "rnn_relu")


class PackedSequences:
    """Takes the calls that make and read packed sequences, and those of layers with one."""

    def __init__(self, recording: OperationRecording) -> None:
        self._recording = recording
        self._known: dict[int, Any] = {}
        self._lengths: dict[int, tuple[Any, list[int]]] = {}

    def learn(self, name: str, given: tuple[Any, ...], made: Any) -> None:
        """Remember numbers of which the step's own code made a tensor, as lengths are."""
        if name in ("tensor", "as_tensor") and given and isinstance(given[0], list | tuple):
            if given[0] and all(type(one) is int for one in given[0]):
                self._lengths[id(made)] = made, list(given[0])
        elif name == "sort" and given and id(given[0]) in self._lengths:
            self._lengths[id(made[0])] = made[0], self._lengths[id(given[0])][1]

    def value(self, tensor: Any) -> Any:
        """Return the value of a tensor with one element if it is known here, or None."""
        if not self.is_known(tensor):
            return None
        with _real_tensors():
            return tensor.item()

    def takes(self, name: str, given: tuple[Any, ...], named: Mapping[str, Any]) -> bool:
        """Return True for a call that is `called` instead."""
        if name in ("_pack_padded_sequence", "_pad_packed_sequence"):
            return True
        if name in _LAYERS:
            return not named and len(given) == 9 and self.is_known(given[1])
        return bool(self._known) and bool(given) and self.is_known(given[0])

    def called(self, name: str, function: Callable[..., Any], given: tuple[Any, ...]) -> Any:
        """Return the results of a call."""
        if name == "_pack_padded_sequence":
            return self._pack(*given)
        if name == "_pad_packed_sequence":
            return self._pad(*given)
        if name in _LAYERS:
            return self._layer(function, *given)
        with _real_tensors():
            return self._remember(function(*given))

    def is_known(self, value: Any) -> bool:
        """Return True for a tensor with the batch's sizes, or one that was read from it."""
        return self._known.get(id(value)) is value

    def _remember(self, made: Any) -> Any:
        from torch import Tensor

        for one in made if isinstance(made, list | tuple) else (made,):
            if isinstance(one, Tensor):
                self._known[id(one)] = one
        return made

    def _pack(self, values: Any, lengths: Any, batch_first: bool) -> tuple[Any, Any]:
        import torch

        steps_first = values.transpose(0, 1) if batch_first else values
        longest, batch = steps_first.shape[:2]
        _, numbers = self._lengths.get(id(lengths), (None, []))
        if not numbers:
            self._recording.values.take_full_length(self._recording.locate()[0])
            numbers = [longest] * batch
        sizes = [sum(one > at for one in numbers) for at in range(max(numbers))]
        data = self._recording.as_one(
            "_pack_padded_sequence",
            lambda: torch.cat(
                [
                    steps_first[first : first + steps, :size].flatten(0, 1)
                    for first, steps, size in _blocks(sizes)
                ]
            ),
            values,
        )
        with _real_tensors():
            return data, self._remember(torch.tensor(sizes))

    def _pad(
        self, data: Any, batch_sizes: Any, batch_first: bool, padding: float, total_length: int
    ) -> tuple[Any, Any]:
        import torch

        sizes = self._numbers(batch_sizes)
        longest = max(len(sizes), total_length)
        out = torch.full((longest, sizes[0], *data.shape[1:]), padding, dtype=data.dtype, device="cpu")
        row = 0
        for first, steps, size in _blocks(sizes):
            rows = data[row : row + steps * size].view(steps, size, *data.shape[1:])
            out[first : first + steps, :size].copy_(rows)
            row += steps * size
        numbers = [sum(size > at for size in sizes) for at in range(sizes[0])]
        lengths = torch.tensor(numbers, device="cpu")
        self.learn("tensor", (numbers,), lengths)
        return out.transpose(0, 1) if batch_first else out, lengths

    def _layer(self, layer: Callable[..., Any], data: Any, batch_sizes: Any, *rest: Any) -> Any:
        sizes = self._numbers(batch_sizes)
        if len(sizes) <= _STEPS:
            return layer(data, batch_sizes, *rest)
        rows = sum(sizes[:_STEPS])
        recording = self._recording
        recording.values.shorten(_STEPS, len(sizes))
        with _real_tensors():
            first_sizes = batch_sizes[:_STEPS]
        first = recording.hidden(lambda: data.narrow(0, 0, rows))
        out, *states = layer(first, first_sizes, *rest)
        every = len(data)
        out = recording.hidden(lambda: out.narrow(0, 0, 1).expand(every, -1).contiguous())
        return (out, *states)

    def _numbers(self, batch_sizes: Any) -> Sequence[int]:
        """Return the sizes of the batch at each step; of a tensor that was not made here, all are one."""
        if not self.is_known(batch_sizes):
            return [1] * len(batch_sizes)
        with _real_tensors():
            numbers: list[int] = batch_sizes.tolist()
        return numbers


def _blocks(sizes: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Yield the first step of each run of batches of one size, its number of steps, and that size."""
    first = 0
    for size, same in groupby(sizes):
        steps = len(list(same))
        yield first, steps, size
        first += steps


@contextmanager
def _real_tensors() -> Iterator[None]:
    """Make and read tensors with values in the block."""
    from torch.utils._python_dispatch import _disable_current_modes

    with _disable_current_modes():
        yield
