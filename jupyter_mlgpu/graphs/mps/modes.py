"""PyTorch's two modes that a step is traced under: one sees calls from Python, the other each ATen operation.

Their classes are made in functions, because PyTorch is imported only when something is traced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import CodeType
from typing import Any, NamedTuple

from jupyter_mlgpu.graphs.mps import places
from jupyter_mlgpu.graphs.mps.stand_ins import StandIns
from jupyter_mlgpu.graphs.mps.traced import CodePlace, Phase, TracedOperation
from jupyter_mlgpu.graphs.mps.unknown_values import UnknownValues

#: Most operations of a trace. A loop that would end by a value ends here; BERT-Large's step has 12,000.
MOST = 60_000

#: Calls for which MPS has one kernel where a CPU has several operations, and their backward operations
#: (`dispatch:` in native_functions.yaml, RNN.cpp).
_WHOLE = {
    "lstm": ("_lstm_mps", "lstm_mps_backward"),
    "linear": ("linear", "linear_backward"),
    "max_pool2d": ("max_pool2d", "max_pool2d_backward"),
}
#: Calls whose own code makes tolerances in float64 on a CPU and in float32 on MPS (pytorch#114771).
_TOLERANT = ("linalg_", "pinverse")
#: What fake tensors call instead of operations that take numbers: on a device it is these.
_NAMED = {"_ctc_loss.Tensor": "_ctc_loss", "_ctc_loss_backward.Tensor": "_ctc_loss_backward"}
#: Calls that need singular values alone, and so no `linalg_svd`. A trace on a CPU does not see that one,
#: which MPS had in its list of fallbacks (MPSFallback.mm).
_ONLY_VALUES = frozenset(
    {
        *("linalg_svdvals", "linalg_norm", "linalg_matrix_norm", "linalg_cond", "linalg_matrix_rank"),
        *("norm", "nuclear_norm"),
    }
)
#: Composite operations whose own code is traced: others of these call what may have no kernel.
_OPENED = "linalg_"
_COMPOSITES = ("CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")
_DEEPEST = 8


class TooManyOperationsError(Exception):
    """The trace reached its greatest number of operations."""


class _Whole(NamedTuple):
    """A call that is one kernel on MPS. `first` and `after` bound the numbers of its autograd nodes."""

    backward: str
    first: int
    after: int


class OperationRecording:
    """The operations that the modes found."""

    def __init__(self, stand_ins: StandIns, end: CodeType) -> None:
        self.values = UnknownValues()
        self.last = CodePlace()
        self.call = ""  # the function of PyTorch that Python called last
        self._stand_ins = stand_ins
        self._end = end
        self._counts: dict[TracedOperation, int] = {}
        self._total = 0
        self._of_node: dict[int, CodePlace] = {}
        self._whole: list[_Whole] = []
        self._backward_of: set[_Whole] = set()
        self._closed = False
        self._tolerances = False

    @property
    def operations(self) -> tuple[TracedOperation, ...]:
        """The operations, each with its count, in the order in which they came first."""
        from msgspec.structs import replace

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
        if self._closed:
            return
        tensors = [one for one in tree_leaves(values) if isinstance(one, Tensor)]
        whole = next((one for one in self._whole if node is not None and one.first <= node < one.after), None)
        if whole is not None:
            if whole in self._backward_of:
                return
            self._backward_of.add(whole)
            name, within = whole.backward, ""
        self._total += 1
        if self._total > MOST:
            raise TooManyOperationsError
        operation = TracedOperation(
            name,
            self._types(tensors),
            frozenset(one.dim() for one in tensors),
            phase,
            place,
            within,
        )
        self._counts[operation] = self._counts.get(operation, 0) + 1

    def _types(self, tensors: Sequence[Any]) -> frozenset[str]:
        types = {str(one.dtype).removeprefix("torch.") for one in tensors}
        if self._tolerances and "float64" in types:
            types = types - {"float64"} | {"float32"}
        return frozenset(types)

    def with_tolerances(self, call: Callable[[], Any]) -> Any:
        """Run a call whose float64 values are float32 on MPS."""
        self._tolerances = True
        try:
            return call()
        finally:
            self._tolerances = False

    def as_one(self, name: str, call: Callable[[], Any], given: Any) -> Any:
        """Run a call that is one operation on MPS, and count it as that."""
        import torch

        forward, backward = _WHOLE[name]
        first = torch.autograd._get_sequence_nr()
        self._closed = True
        try:
            made = call()
        finally:
            self._closed = False
        after = torch.autograd._get_sequence_nr()
        place, _ = places.find(self._end, self._stand_ins.layers)
        self._of_node.update(dict.fromkeys(range(first, after), place))
        self.add(forward, (given, made))
        if after > first:
            self._whole.append(_Whole(backward, first, after))
        return made


def modes(recording: OperationRecording, stand_ins: StandIns) -> tuple[Any, Any]:
    """Return the mode of Python's calls and that of operations, to be entered in this order."""
    from torch import _C, Tensor
    from torch._subclasses.fake_tensor import FakeTensor
    from torch.overrides import TorchFunctionMode
    from torch.utils._device import _device_constructors
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves, tree_map

    makes_tensors = _device_constructors()

    class Calls(TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(
            self, function: Any, types: Any, given: tuple[Any, ...] = (), named: Any = None
        ) -> Any:
            name = getattr(function, "__name__", "")
            recording.call = name
            given, named = tree_map(_on_cpu, (given, dict(named or {})))
            if name in ("cuda", "xpu", "pin_memory") and given and isinstance(given[0], Tensor):
                return given[0]
            if function in makes_tensors and named.get("device") is None:
                named["device"] = "cpu"
            if name in ("numpy", "__array__", "tolist"):
                recording.locate()
                return recording.values.outside(given[0], name, recording.last)
            if name in _WHOLE and _is_whole(name, given):
                return recording.as_one(name, lambda: function(*given, **named), (given, named))
            if name.startswith(_TOLERANT) and not _has_float64((given, named)):
                return recording.with_tolerances(lambda: function(*given, **named))
            return function(*given, **named)

    class Operations(TorchDispatchMode):  # type: ignore[misc]
        within: tuple[str, ...] = ()

        def __torch_dispatch__(
            self, operation: Any, types: Any, given: tuple[Any, ...] = (), named: Any = None
        ) -> Any:
            named = tree_map(_on_cpu, dict(named or {}))
            if operation.namespace in ("prim", "profiler"):
                return operation(*given, **named)
            if any(
                isinstance(one, Tensor) and not isinstance(one, FakeTensor)
                for one in tree_leaves((given, named))
            ):
                given, named = stand_ins.of((given, named))
            name = _name(operation)
            within = self.within[-1] if self.within else ""
            made = None
            try:
                if name in ("_local_scalar_dense", "equal"):
                    place, phase, _ = recording.locate()
                    made = recording.values.scalar(given[0], name, None if phase == "optimizer" else place)
                else:
                    made = recording.values.made_up(name, given) or self._opened(
                        operation, name, given, named
                    )
                    made = recording.values.sized(made, name, lambda: recording.locate()[0])
                return made
            finally:
                if name == "_linalg_svd" and recording.call not in _ONLY_VALUES:
                    recording.add("linalg_svd", (given, named, made), within)
                    within = "linalg_svd"
                recording.add(_NAMED.get(name, name), (given, named, made), within)

        def _opened(self, operation: Any, name: str, given: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
            keys = [getattr(_C.DispatchKey, one) for one in _COMPOSITES]
            key = next((one for one in keys if operation.has_kernel_for_dispatch_key(one)), None)
            if not name.startswith(_OPENED) or key is None or len(self.within) == _DEEPEST:
                return operation(*given, **named)
            self.within = (*self.within, name)
            try:
                with self:
                    return operation._op_dk(key, *given, **named)
            except NotImplementedError:  # its own code reads values that fake tensors have not
                return operation(*given, **named)
            finally:
                self.within = self.within[:-1]

    return Calls(), Operations()


def _name(operation: Any) -> str:
    """Return an operation's name as in native_functions.yaml, with its library if it is another's."""
    name = operation._schema.name.removeprefix("aten::")
    overload = operation._schema.overload_name
    return f"{name}.{overload}" if overload else str(name)


def _on_cpu(value: Any) -> Any:
    """Return a device of any kind as the CPU: nothing is traced on another one."""
    from torch import device

    if isinstance(value, device) and value.type != "cpu":
        return device("cpu")
    if isinstance(value, str) and value.split(":")[0] in ("cuda", "mps", "xpu", "meta"):
        return "cpu"
    return value


def _has_float64(values: Any) -> bool:
    from torch import Tensor, float64
    from torch.utils._pytree import tree_leaves

    return any(isinstance(one, Tensor) and one.dtype is float64 for one in tree_leaves(values))


def _is_whole(name: str, given: tuple[Any, ...]) -> bool:
    """Return False for a call with packed sequences, which have no kernel of their own on MPS."""
    return name != "lstm" or (len(given) > 1 and isinstance(given[1], tuple | list))
