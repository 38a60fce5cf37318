"""PyTorch's two modes that a step is traced under: one sees calls from Python, the other each ATen operation.

Their classes are made in functions, because PyTorch is imported only when something is traced.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from jupyter_mlgpu.graphs.mps import mixed_precision, recurrent
from jupyter_mlgpu.graphs.mps.operation_recording import WHOLE, OperationRecording
from jupyter_mlgpu.graphs.mps.packed import PackedSequences
from jupyter_mlgpu.graphs.mps.places import sees_mps
from jupyter_mlgpu.graphs.mps.stand_ins import StandIns

#: Calls whose own code makes tolerances in float64 on a CPU and in float32 on MPS (pytorch#114771).
_TOLERANT = ("linalg_", "pinverse")
#: Overloads that PyTorch calls while a mode observes it, and those that it calls otherwise (LossCTC.cpp).
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
#: Calls that make a tensor of NumPy's numbers, on the CPU if no device is given, and calls that move one.
_FROM_NUMPY = ("tensor", "as_tensor")
_MOVES = ("to", "cuda")


def modes(recording: OperationRecording, stand_ins: StandIns) -> tuple[Any, Any]:
    """Return the mode of Python's calls and that of operations, to be entered in this order."""
    from torch import _C, Tensor, get_default_device
    from torch._subclasses.fake_tensor import FakeTensor
    from torch.overrides import TorchFunctionMode
    from torch.utils._device import _device_constructors
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves, tree_map

    makes_tensors = _device_constructors()
    is_mps = Tensor.is_mps.__get__
    packed = PackedSequences(recording)

    class Calls(TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(
            self, function: Any, types: Any, given: tuple[Any, ...] = (), named: Any = None
        ) -> Any:
            name = getattr(function, "__name__", "")
            recording.call = name
            if name == "__get__" and function == is_mps:
                return sees_mps(sys._getframe(1).f_code.co_filename)
            if name in _MOVES and given and any(map(_is_gpu, tree_leaves((given[1:], named or {}, name)))):
                given = (recording.moved(given[0]), *given[1:])
            given, named = tree_map(_on_cpu, (given, dict(named or {})))
            if name in ("cuda", "xpu", "pin_memory") and given and isinstance(given[0], Tensor):
                return given[0]
            if name in _FROM_NUMPY and named.get("device") is None and get_default_device().type == "cpu":
                made = recording.on_cpu(lambda: function(*given, **named))
                packed.learn(name, given, made)
                return made
            if function in makes_tensors and named.get("device") is None:
                named["device"] = "cpu"
            if packed.takes(name, given, named):
                return packed.called(name, function, given)
            if name in ("numpy", "__array__", "tolist"):
                recording.locate()
                return recording.values.outside(given[0], name, recording.last)
            if recurrent.is_call(name, given, named):
                return recurrent.shortened(recording, name, function, given)
            if name == "one_hot":
                return _one_hot(*given, **named)
            if name in WHOLE and name != "lstm":
                given, named = mixed_precision.casting(name, (given, named))
                return recording.as_one(name, lambda: function(*given, **named), (given, named))
            if name.startswith(_TOLERANT) and not _has_float64((given, named)):
                return recording.with_tolerances(lambda: function(*given, **named))
            made = function(*given, **named)
            packed.learn(name, given, made)
            return made

    class Operations(TorchDispatchMode):  # type: ignore[misc]
        within: tuple[str, ...] = ()

        def __torch_dispatch__(
            self, operation: Any, types: Any, given: tuple[Any, ...] = (), named: Any = None
        ) -> Any:
            named = tree_map(_on_cpu, dict(named or {}))
            if operation.namespace in ("prim", "profiler"):
                return operation(*given, **named)
            name = _name(operation)
            # A Mac's CPU has float64: numbers of NumPy's may be turned to float32 there.
            apart = name == "_to_copy" and recording.is_on_cpu(given[0])
            if name == "_local_scalar_dense" and (number := packed.value(given[0])) is not None:
                return number
            # The number in `torch.tensor(3)` is given to `lift_fresh`, and known from then on.
            if name != "lift_fresh" and any(
                isinstance(one, Tensor) and not isinstance(one, FakeTensor)
                for one in tree_leaves((given, named))
            ):
                given, named = stand_ins.of((given, named))
            within = self.within[-1] if self.within else ""
            made: Any = None
            if name.endswith(".Scalar") and name[:3] in ("le.", "lt.", "gt.", "ge."):
                # LBFGS ends where a gradient is small, and where a slope is not below zero.
                recording.would_end = name[0] == "l" or given[1] < 0
            elif name == "le.Tensor":
                recording.would_end = False
            try:
                if name == "equal" and recording.call != "equal":
                    made = False  # PyTorch's own code asks whether something is wrong
                elif name in ("_local_scalar_dense", "equal") and given[0].constant is None:
                    place, phase, _ = recording.locate()
                    own = phase == "optimizer" or recording.hides
                    asks = None if own else place
                    made = recording.values.scalar(given[0], name, asks, ends=recording.would_end)
                else:
                    made = recording.values.made_up(name, given, named)
                    if made is None:
                        made = self._opened(operation, name, given, named)
                    made = recording.values.sized(made, name, lambda: recording.locate()[0])
                    if isinstance(made, Tensor) and _of_numbers(operation, (given, named)):
                        recording.take_as_number(made)
                return made
            finally:
                if name == "_linalg_svd" and recording.call not in _ONLY_VALUES:
                    recording.add("linalg_svd", (given, named, made), within)
                    within = "linalg_svd"
                if not apart:
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


def _of_numbers(operation: Any, values: Any) -> bool:
    """Return True if an operation makes a tensor of Python's numbers alone, on no device."""
    from torch import Tensor
    from torch.utils._pytree import tree_leaves

    if any(isinstance(one, Tensor) for one in tree_leaves(values)):
        return False
    return not any(one.name == "device" for one in operation._schema.arguments)


def _one_hot(labels: Any, num_classes: int = -1) -> Any:
    """Return one-hot vectors by the operations that a device has; fake tensors have others (Onehot.cpp)."""
    import torch

    classes = num_classes if num_classes > 0 else int(labels.max().item()) + 1
    made = torch.zeros((*labels.shape, classes), dtype=torch.int64, device="cpu")
    return made.scatter_(-1, labels.unsqueeze(-1), 1)


def _on_cpu(value: Any) -> Any:
    """Return a device of any kind as the CPU: nothing is traced on another one."""
    from torch import device

    if isinstance(value, device) and value.type != "cpu":
        return device("cpu")
    if isinstance(value, str) and value.split(":")[0] in ("cuda", "mps", "xpu", "meta"):
        return "cpu"
    return value


def _is_gpu(value: Any) -> bool:
    from torch import device

    return str(value).startswith(("mps", "cuda")) and isinstance(value, str | device)


def _has_float64(values: Any) -> bool:
    from torch import Tensor, float64
    from torch.utils._pytree import tree_leaves

    return any(isinstance(one, Tensor) and one.dtype is float64 for one in tree_leaves(values))
