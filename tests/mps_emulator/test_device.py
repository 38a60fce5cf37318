"""The emulated device does what PyTorch's users rely on, and refuses what a Mac refuses."""

from __future__ import annotations

import pytest

from tests.mps_emulator import building

#: Each kernel takes 50 ms of the device's queue, far behind the host.
SLOW = {"MPS_EMULATOR_KERNEL_US": "50000"}

SECONDS = """
import time
import torch
a = torch.ones(4, 4, device='mps')
def seconds(work):
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
"""

BOTH_DEVICES = """
torch.manual_seed(0)
net = torch.nn.Sequential(
    torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(4 * 36, 10)
)
x = torch.randn(5, 1, 8, 8)
net(x).sum().backward()
expected = [p.grad.clone() for p in net.parameters()]
net.zero_grad()
net.to(dev)(x.to(dev)).sum().backward()
grads = [p.grad for p in net.parameters()]
"""

VIEWS = """
x = torch.zeros(4, 4, device=dev)
x[1] += 1
x.t()[2] = 5
x.view(2, 8)[0, 0] = 7
"""

#: What learners' programs use, with `x` of 4 x 16 numbers on the device that needs a gradient.
OPERATIONS = (
    "nn.LSTM(16, 8).to(dev)(x)[0].sum().backward()",
    "nn.MultiheadAttention(16, 2, batch_first=True).to(dev)(x[None], x[None], x[None])[0].sum().backward()",
    "nn.TransformerEncoderLayer(16, 2, 32, batch_first=True).to(dev)(x[None]).sum().backward()",
    "F.scaled_dot_product_attention(x[None], x[None], x[None], is_causal=True).sum().backward()",
    "nn.ConvTranspose2d(1, 2, 3).to(dev)(x.reshape(1, 1, 8, 8)).sum().backward()",
    "F.max_pool2d(x.reshape(1, 1, 8, 8), 2).sum().backward()",
    "F.interpolate(x.reshape(1, 1, 8, 8), scale_factor=2, mode='bilinear').sum().backward()",
    "nn.BatchNorm1d(16).to(dev)(x).sum().backward()",
    "nn.LayerNorm(16).to(dev)(x).sum().backward()",
    "F.dropout(F.gelu(x)).sum().backward()",
    "nn.Embedding(5, 3).to(dev)(torch.randint(0, 5, (3,), device=dev)).sum().backward()",
    "F.cross_entropy(x, torch.zeros(4, dtype=torch.long, device=dev)).backward()",
    "nn.utils.clip_grad_norm_([x], 1.0)",
    "torch.optim.AdamW([nn.Parameter(x.detach().clone())]).step()",
    "torch.einsum('ij,kj->ik', x, x).cumsum(0).sort()[0].topk(2)",
    "torch.unique(torch.randint(0, 5, (10,), device=dev)), torch.nonzero(x), torch.where(x > 0, x, 0)",
    "x.detach().clone().__setitem__(x.detach() > 0, 0)",
    "torch.linalg.svd(x.detach()), torch.linalg.inv(torch.eye(3, device=dev)), torch.fft.rfft(x.detach())",
    "torch.func.vmap(torch.func.grad(lambda row: (row**2).sum()))(x)",
    "x.half() @ x.half().T, x.bfloat16().float()",
    "torch.compile(lambda z: z.sin() + 1, backend='aot_eager')(x)",
    "repr(x), x.tolist(), bool(x[0, 0] > 0), torch.allclose(x, x), copy.deepcopy(x.detach())",
)

TRIED = """
import copy
import torch.nn as nn, torch.nn.functional as F
x = torch.randn(4, 16, device=dev, requires_grad=True)
failed = {}
for one in operations:
    try:
        eval(one)
    except Exception as error:
        failed[one] = str(error)[-300:]
"""

MEMORY = """
import gc
x = None
gc.collect()
torch.mps.empty_cache()
in_use, reserved = torch.mps.current_allocated_memory, torch.mps.driver_allocated_memory
before = in_use()
x = torch.empty(2**20, device=dev)
used = in_use() - before
del x
freed, kept = in_use() - before, reserved() - before
torch.mps.empty_cache()
left = reserved() - before
"""

SEEDS = """
def draw(generator=None):
    return torch.rand(4, device=dev, generator=generator).tolist()
torch.manual_seed(3)
first, next_one = draw(), draw()
torch.manual_seed(3)
again = draw()
own = draw(torch.Generator('mps').manual_seed(3))
"""

SAVED = """
a, b = torch.nn.Linear(2, 2).to(dev), torch.nn.Linear(2, 2).to(dev)
torch.save(a.state_dict(), 'saved.pt')
b.load_state_dict(torch.load('saved.pt', weights_only=True))
on_cpu = torch.load('saved.pt', map_location='cpu')
import copy
copied = copy.deepcopy(a)
"""

WAITED = """
def queue():
    global b
    for _ in range(4):
        b = a @ a
torch.mps.synchronize()
handed_over = seconds(queue)
"""

COUNTED = """
import emulated_mps
torch.mps.synchronize()
before = emulated_mps.gpu_nanoseconds()
b = a @ a
early = emulated_mps.gpu_nanoseconds() - before
torch.mps.synchronize()
late = emulated_mps.gpu_nanoseconds() - before
"""


def run(notebook, code):
    result = notebook.run(code)
    assert result.status == "ok", result.error


@pytest.fixture(scope="module")
def python(start_on_mps):
    notebook = start_on_mps(extension=False)
    run(notebook, "import torch\ndev = torch.device('mps')")
    return notebook


@pytest.fixture(scope="module")
def slow(start_on_mps):
    notebook = start_on_mps(extension=False, **SLOW)
    run(notebook, SECONDS)
    return notebook


def test_pytorch_has_the_device_and_no_other(python):
    run(python, "x = torch.ones(2, 3, device=dev)")
    asked = "torch.backends.mps.is_available(), torch.backends.mps.is_built(), torch.mps.device_count()"
    assert python.evaluate(f"({asked})") == (True, True, 1)
    assert python.evaluate("str(torch.accelerator.current_accelerator())") == "mps"
    assert python.evaluate("(str(x.device), x.sum().item())") == ("mps:0", 6.0)


def test_results_and_gradients_are_those_of_the_cpu(python):
    run(python, BOTH_DEVICES)
    assert python.evaluate("{str(one.device) for one in grads}") == {"mps:0"}
    close = "torch.allclose(one, other.cpu(), atol=1e-5)"
    assert python.evaluate(f"all({close} for one, other in zip(expected, grads, strict=True))")


def test_views_share_memory_and_writes_through_them_arrive(python):
    run(python, VIEWS)
    assert python.evaluate("x.tolist()") == [[7, 0, 5, 0], [1, 1, 5, 1], [0, 0, 5, 0], [0, 0, 5, 0]]


def test_what_learners_use_works_there(python):
    run(python, f"operations = {OPERATIONS}{TRIED}")
    assert python.evaluate("failed") == {}


def test_outputs_given_by_the_user_are_resized(python):
    run(python, "out = torch.empty(0, device=dev)\ntorch.add(torch.ones(3, device=dev), 1, out=out)")
    assert python.evaluate("out.tolist()") == [2, 2, 2]


def test_memory_in_use_is_counted_and_freed_memory_stays_until_the_cache_is_emptied(python):
    run(python, MEMORY)
    assert python.evaluate("(used, freed, kept, left)") == (2**22, 0, 2**22, 0)


def test_a_seed_repeats_what_the_device_draws(python):
    run(python, SEEDS)
    assert python.evaluate("(again == first, own == first, next_one == first)") == (True, True, False)


def test_a_model_is_saved_loaded_and_copied(python):
    run(python, SAVED)
    assert python.evaluate("(b.weight == a.weight).all().item()")
    assert python.evaluate("str(on_cpu['weight'].device)") == "cpu"
    assert python.evaluate("str(copied.weight.device)") == "mps:0"


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("torch.zeros(3, device=dev, dtype=torch.float64)", "TypeError: Cannot convert a MPS Tensor to"),
        ("torch.zeros(3, dtype=torch.float64).to(dev)", "TypeError: Cannot convert a MPS Tensor to float64"),
        ("torch.empty(10**13, device=dev)", "RuntimeError: Invalid buffer size: 37252.90 GiB"),
        ("torch.ones(3, device=dev) + torch.ones(3)", "RuntimeError: Expected all tensors to be on the same"),
        ("torch.ones(3, device=dev).numpy()", "TypeError: can't convert mps:0 device type tensor to numpy"),
    ],
)
def test_what_a_mac_refuses_is_refused_in_its_words(python, code, error):
    told = python.run(code)
    assert told.status == "error"
    assert told.error.startswith(error)


@pytest.mark.parametrize("wait", ["torch.mps.synchronize()", "b.sum().item()", "b.cpu()", "b.tolist()"])
def test_who_waits_waits_for_the_queue(slow, wait):
    run(slow, f"{WAITED}\nwaited = seconds(lambda: {wait})")
    handed_over, waited = slow.evaluate("(handed_over, waited)")
    assert handed_over < 0.1
    assert handed_over + waited >= 0.2


def test_gpu_time_is_counted_when_the_queue_has_got_there(slow):
    run(slow, COUNTED)
    early, late = slow.evaluate("(early, late)")
    assert early < late
    assert late >= 50e6


def test_without_a_compiler_the_reason_is_told(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert building.why_not() == "the emulated MPS device is built by g++, which is not here"
