"""A checked cell computes the same as an unchecked one, bit by bit, and leaves the same random state."""

import contextlib

import pytest

from tests.support import check_cells

pytestmark = pytest.mark.needs("torch")

#: `torch.compile` makes other code of it than runs under the check.
COMPILED = "a compiled function"
CELLS = [one for one in check_cells.cells("check_cells/ordinary.py") if not one.title.startswith(COMPILED)]


def run_of(code, context, dtype="float32"):
    """Run a cell with a seed, in a context; return all tensors that it leaves, and the next random number."""
    import torch

    torch.manual_seed(5)
    cell = check_cells.CheckCell("a cell", code, None)
    with context:
        names = check_cells.run(cell, T=getattr(torch, dtype))
    return [
        *tensors_of({name: value for name, value in names.items() if name != "__builtins__"}),
        torch.rand(1),
    ]


def tensors_of(value):
    import torch

    if isinstance(value, torch.nn.Module):
        return tensors_of([*value.parameters(), *value.buffers()])
    if isinstance(value, torch.optim.Optimizer):
        return tensors_of(value.state_dict())
    if isinstance(value, torch.Tensor):
        gradient = value.grad if value.is_leaf else None
        return [value, *([] if gradient is None else [gradient])]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [one for part in value for one in tensors_of(part)]
    return []


def is_same(one, other):
    import torch

    if one.dtype != other.dtype or one.shape != other.shape or one.stride() != other.stride():
        return False
    if not one.numel():
        return True
    plain = (value.detach().as_subclass(torch.Tensor).resolve_conj() for value in (one, other))
    one, other = (value.contiguous().view(-1) for value in plain)
    return torch.equal(one.view(torch.uint8), other.view(torch.uint8))


@pytest.mark.filterwarnings("ignore")  # of PyTorch's own modules, as they are imported
@pytest.mark.parametrize("cell", CELLS, ids=[one.title for one in CELLS])
def test_an_ordinary_cell_gives_the_same(cell):
    from jupyter_mlgpu.measure.checking.check_mode import checking

    dtype = cell.title.partition(" | ")[2].split()[-1]
    expected = run_of(cell.code, contextlib.nullcontext(), dtype)
    found = run_of(cell.code, checking(), dtype)
    assert len(found) == len(expected)
    assert all(map(is_same, found, expected))


MODES = """
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
seen = []
class Functions(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        seen.append(function)
        return function(*args, **(kwargs or {}))
class Operations(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        seen.append(function)
        return function(*args, **(kwargs or {}))
with Functions(), Operations():
    x = torch.rand(4, 4, requires_grad=True)
    y = (x @ x).softmax(1).sum()
    y.backward()
count = torch.tensor(len(seen))
"""
DETERMINISTIC = """
torch.use_deterministic_algorithms(True)
try:
    x = torch.zeros(4).index_add(0, torch.tensor([1, 1, 2]), torch.rand(3))
    y = torch.empty(3)
finally:
    torch.use_deterministic_algorithms(False)
"""
SUBCLASS = """
class Named(torch.Tensor):
    pass
x = torch.rand(5).as_subclass(Named)
y = (x * 2).exp().sum()
kept = torch.tensor(isinstance(y, Named))
"""
WRAPPER = """
from torch.utils._pytree import tree_map_only
class Wrapped(torch.Tensor):
    @staticmethod
    def __new__(cls, inner):
        made = torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)
        made.inner = inner
        return made
    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        args = tree_map_only(Wrapped, lambda one: one.inner, args)
        return tree_map_only(torch.Tensor, Wrapped, function(*args, **(kwargs or {})))
x = Wrapped(torch.rand(4))
y = (x + 1).inner
del x
"""
KINDS = """
m = torch.rand(3, device='meta') @ torch.rand(3, device='meta')
s = (torch.eye(4).to_sparse() @ torch.rand(4, 4))
n = torch.nested.nested_tensor([torch.rand(2, 3), torch.rand(4, 3)])
y = (n * 2).to_padded_tensor(0.0)
q = torch.quantize_per_tensor(torch.rand(4), 0.1, 0, torch.qint8)
z = q.dequantize()
del m, n, q
"""
GENERATOR = """
g = torch.Generator().manual_seed(7)
x = torch.rand(4, generator=g)
y = torch.nn.functional.dropout(torch.ones(50), 0.5)
z = torch.randn(4, generator=g) + torch.randperm(4, generator=g)
"""
DEFAULTS = """
torch.set_default_dtype(torch.float64)
torch.set_default_device('cpu')
try:
    x = torch.rand(4) + 0.1
    y = (x @ x).sqrt() + x.softmax(0)
finally:
    torch.set_default_dtype(torch.float32)
    torch.set_default_device(None)
"""
FORWARD_MODE = """
import torch.autograd.forward_ad as fwad
with fwad.dual_level():
    y = fwad.unpack_dual(torch.sin(fwad.make_dual(torch.rand(4), torch.ones(4)))).tangent.clone()
"""
CASES = {
    "modes of the user's": MODES,
    "deterministic algorithms": DETERMINISTIC,
    "a subclass": SUBCLASS,
    "a subclass that wraps": WRAPPER,
    "meta, sparse, nested and quantized tensors": KINDS,
    "a generator": GENERATOR,
    "other defaults": DEFAULTS,
    "forward mode": FORWARD_MODE,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
def test_a_cell_of_a_special_kind_gives_the_same_without_an_alarm(code):
    from jupyter_mlgpu.measure.checking.check_mode import checking

    expected = run_of(code, contextlib.nullcontext())
    with checking() as checker:
        found = run_of(code, contextlib.nullcontext())
    assert len(found) == len(expected)
    assert all(map(is_same, found, expected))
    assert checker.result().first == ()


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_a_cell_that_ends_early_leaves_no_mode_behind_and_the_same_random_state(error):
    import torch
    from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

    from jupyter_mlgpu.measure.checking.check_mode import checking

    def run(context):
        torch.manual_seed(5)
        layer = torch.nn.Linear(3, 3)

        def end(gradient):
            raise error

        def cell():
            with context:
                hidden = layer(torch.rand(2, 3))
                hidden.register_hook(end)
                hidden.sum().backward()

        with pytest.raises(error):
            cell()
        return [layer.weight.detach(), torch.rand(2)]

    expected, found = run(contextlib.nullcontext()), run(checking())
    assert all(map(is_same, found, expected))
    assert _get_current_dispatch_mode_stack() == []
    assert not torch.compiler.is_compiling()


def test_an_interrupt_while_an_operation_is_compared_ends_the_cell(monkeypatch):
    import torch

    from jupyter_mlgpu.measure.checking import check_mode

    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(check_mode, "compare", interrupted)
    x = torch.zeros(3)
    with pytest.raises(KeyboardInterrupt), check_mode.checking():
        x.add_(1)
    assert x.tolist() == [1, 1, 1]
    monkeypatch.undo()
    with check_mode.checking() as checker:
        x.add_(1)
    assert checker.result().checked == 1
