"""Collects the operations of a trace, with their places and phases."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from types import CodeType
from typing import Any, NamedTuple

from msgspec.structs import replace

from jupyter_mlgpu.graphs.mps import places
from jupyter_mlgpu.graphs.mps.stand_ins import StandIns
from jupyter_mlgpu.graphs.mps.traced import CodePlace, Phase, TracedOperation
from jupyter_mlgpu.graphs.mps.unknown_values import UnknownValues

#: Most operations of a trace. A loop that would end by a value ends here; BERT-Large's step has 6,191.
MOST = 60_000
#: Most operations in sequence that were all seen before, as in a loop over many batches. AdamW has 14 for
#: each weight on a CPU, and GPT-2 XL has 580 weights.
MOST_REPEATED = 12_000

#: Calls for which MPS has one kernel where a CPU has several operations, and their backward operations
#: (`dispatch:` in native_functions.yaml, RNN.cpp).
WHOLE = {
    "lstm": ("_lstm_mps", "lstm_mps_backward"),
    "linear": ("linear", "linear_backward"),
    "max_pool2d": ("max_pool2d", "max_pool2d_backward"),
    # One operation on every device; its code reads lengths that fake tensors have not.
    "_pack_padded_sequence": ("_pack_padded_sequence", "_pack_padded_sequence_backward"),
}


class TooManyOperationsError(Exception):
    """The trace reached its greatest number of operations, or of those that bring nothing new."""


class _Whole(NamedTuple):
    """A call whose operations are not counted. `first` and `after` bound the numbers of its autograd nodes.

    `backward` is the one operation of its backward pass, or empty.
    """

    backward: str
    first: int
    after: int


class OperationRecording:
    """The operations that the modes found."""

    def __init__(self, stand_ins: StandIns, end: CodeType, contrary: Collection[CodePlace] = ()) -> None:
        self.values = UnknownValues(contrary)
        self.last = CodePlace()
        self.call = ""  # the function of PyTorch that Python called last
        self.would_end = False  # whether an optimizer ends where the last comparison is true
        self._stand_ins = stand_ins
        self._end = end
        self._counts: dict[TracedOperation, int] = {}
        self._total = self._repeated = 0
        self._of_node: dict[int, CodePlace] = {}
        self._whole: list[_Whole] = []
        self._backward_of: set[_Whole] = set()
        self._on_cpu: dict[int, Any] = {}  # tensors that no code has moved to the GPU yet
        self._numbers: dict[int, Any] = {}
        self.hides = False  # operations are not counted now
        self._tolerances = False

    @property
    def operations(self) -> tuple[TracedOperation, ...]:
        """The operations, each with its count, in the order in which they came first."""
        return tuple(replace(one, count=count) for one, count in self._counts.items())

    def locate(self) -> tuple[CodePlace, Phase, int | None]:
        """Return the place and phase of the running operation, and the number of its autograd node.

        In a backward pass, the place is that of the forward operation of the same node.
        """
        import torch

        place, optimizer = places.find(self._end, self._stand_ins.layers)
        node = torch._C._current_autograd_node()
        if node is not None:
            number = node._sequence_nr()
            self.last = self._of_node.get(number, place)
            return self.last, "backward", number
        # A node gets its number just before its operation runs; later operations without one see it, too.
        self._of_node.setdefault(torch.autograd._get_sequence_nr() - 1, place)
        self.last = place
        return place, "optimizer" if optimizer else "forward", None

    def add(self, name: str, values: Any, within: str = "") -> None:
        """Count an operation; `values` are its arguments and results."""
        from torch import Tensor
        from torch.utils._pytree import tree_leaves

        place, phase, node = self.locate()
        if name not in ("_local_scalar_dense", "equal"):
            self.values.last = None
        if self.hides:
            return
        tensors = [
            one for one in tree_leaves(values) if isinstance(one, Tensor) and id(one) not in self._numbers
        ]
        whole = next((one for one in self._whole if node is not None and one.first <= node < one.after), None)
        if whole is not None:
            if whole in self._backward_of or not whole.backward:
                return
            self._backward_of.add(whole)
            name, within = whole.backward, ""
        self._total += 1
        self._repeated += 1
        if self._total > MOST or self._repeated > MOST_REPEATED:
            raise TooManyOperationsError
        operation = TracedOperation(
            name,
            self._types(tensors),
            frozenset(one.dim() for one in tensors),
            phase,
            place,
            within,
        )
        if operation not in self._counts:
            self._repeated = 0
        self._counts[operation] = self._counts.get(operation, 0) + 1

    def take_as_number(self, tensor: Any) -> None:
        """Leave out the type of a tensor that PyTorch made from a Python number: it is on no device."""
        self._numbers[id(tensor)] = tensor

    def _types(self, tensors: Sequence[Any]) -> frozenset[str]:
        types = {str(one.dtype).removeprefix("torch.") for one in tensors}
        if self._tolerances and "float64" in types:
            types = types - {"float64"} | {"float32"}
        # A layout counts as a type: kernels for sparse tensors are others.
        layouts = {str(one.layout).removeprefix("torch.") for one in tensors} - {"strided"}
        return frozenset(types | layouts)

    def on_cpu(self, call: Callable[[], Any]) -> Any:
        """Run a call that makes a tensor on the CPU, and do not count it."""
        made = self.hidden(call)
        self._on_cpu[id(made)] = made
        return made

    def is_on_cpu(self, tensor: Any) -> bool:
        """Return True for a tensor that was made on the CPU from NumPy's numbers, and not moved since."""
        from torch._subclasses.fake_tensor import FakeTensor

        return id(tensor) in self._on_cpu or (
            not isinstance(tensor, FakeTensor) and str(tensor.device) == "cpu"
        )

    def moved(self, tensor: Any) -> Any:
        """Return what stands for a tensor that the code moves to the GPU."""
        self._on_cpu.pop(id(tensor), None)
        return self._stand_ins.of(tensor)

    def with_tolerances(self, call: Callable[[], Any]) -> Any:
        """Run a call whose float64 values are float32 on MPS."""
        self._tolerances = True
        try:
            return call()
        finally:
            self._tolerances = False

    def as_one(self, name: str, call: Callable[[], Any], given: Any) -> Any:
        """Run a call that is one operation on MPS, and count it as that."""
        forward, backward = WHOLE[name]
        made = self.hidden(call, backward)
        self.add(forward, (given, made))
        return made

    def hidden(self, call: Callable[[], Any], backward: str = "") -> Any:
        """Run a call without counting its operations. Its backward pass is one operation, or none."""
        import torch

        first = torch.autograd._get_sequence_nr()
        before, self.hides = self.hides, True
        try:
            # Casts of mixed precision within the call are those of the operations that a CPU has.
            with torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCPU)):
                made = call()
        finally:
            self.hides = before
        after = torch.autograd._get_sequence_nr()
        place, _ = places.find(self._end, self._stand_ins.layers)
        self._of_node.update(dict.fromkeys(range(first, after), place))
        if after > first:
            self._whole.append(_Whole(backward, first, after))
        return made
