"""The emulated device does what PyTorch's users rely on, and refuses what a Mac refuses."""

from __future__ import annotations

import pytest

from tests.mps_emulator import building

#: Each kernel takes 50 ms of the device's queue, far behind the host.
SLOW = {"MPS_EMULATOR_KERNEL_US": "50000"}

TIMED = """
import time
def seconds(work):
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
"""


@pytest.fixture(scope="module")
def python(start_on_mps):
    notebook = start_on_mps(extension=False)
    assert notebook.run("import torch\ndev = torch.device('mps')").status == "ok"
    return notebook


@pytest.fixture(scope="module")
def slow(start_on_mps):
    notebook = start_on_mps(extension=False, **SLOW)
    assert notebook.run(f"import torch\na = torch.ones(4, 4, device='mps'){TIMED}").status == "ok"
    return notebook


def run(notebook, code):
    result = notebook.run(code)
    assert result.status == "ok", result.error
    return result


def test_pytorch_has_the_device_and_no_other(python):
    run(python, "x = torch.ones(2, 3, device=dev)")
    asked = "torch.backends.mps.is_available(), torch.backends.mps.is_built(), torch.mps.device_count()"
    assert python.evaluate(f"({asked})") == (True, True, 1)
    assert python.evaluate("str(torch.accelerator.current_accelerator())") == "mps"
    assert python.evaluate("(str(x.device), x.sum().item(), (x + 1).tolist())") == (
        "mps:0",
        6.0,
        [[2.0] * 3] * 2,
    )


def test_results_are_those_of_the_cpu(python):
    run(
        python,
        "torch.manual_seed(0)\nnet = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(),\n"
        "    torch.nn.Flatten(), torch.nn.Linear(4 * 36, 10))\nx = torch.randn(5, 1, 8, 8)\n"
        "net(x).sum().backward()\nhere = [p.grad.clone() for p in net.parameters()]\nnet.zero_grad()\n"
        "net.to(dev)(x.to(dev)).sum().backward()",
    )
    assert python.evaluate("{str(p.grad.device) for p in net.parameters()}") == {"mps:0"}
    assert python.evaluate(
        "all(torch.allclose(a, p.grad.cpu(), atol=1e-5) for a, p in zip(here, net.parameters()))"
    )


def test_views_share_memory_and_writes_through_them_arrive(python):
    run(python, "x = torch.zeros(4, 4, device=dev)\nx[1] += 1\nx.t()[2] = 5\nx.view(2, 8)[0, 0] = 7")
    assert python.evaluate("x.tolist()") == [[7, 0, 5, 0], [1, 1, 5, 1], [0, 0, 5, 0], [0, 0, 5, 0]]


def test_outputs_given_by_the_user_are_resized(python):
    run(
        python,
        "import warnings; warnings.simplefilter('ignore')\nout = torch.empty(0, device=dev)\n"
        "torch.add(torch.ones(3, device=dev), 1, out=out)",
    )
    assert python.evaluate("out.tolist()") == [2, 2, 2]


def test_memory_in_use_is_counted_and_freed_memory_stays_until_the_cache_is_emptied(python):
    run(
        python,
        "import gc; gc.collect(); torch.mps.empty_cache()\nbase = torch.mps.current_allocated_memory()\n"
        "x = torch.empty(2**20, device=dev)\nused = torch.mps.current_allocated_memory() - base\ndel x\n"
        "freed = torch.mps.current_allocated_memory() - base\n"
        "kept = torch.mps.driver_allocated_memory() - base\ntorch.mps.empty_cache()\n"
        "left = torch.mps.driver_allocated_memory() - base",
    )
    assert python.evaluate("(used, freed, kept, left)") == (2**22, 0, 2**22, 0)
    assert python.evaluate("torch.mps.recommended_max_memory()") > 2**30


def test_a_seed_repeats_what_the_device_draws(python):
    run(
        python,
        "def draw():\n    torch.manual_seed(3)\n    return torch.rand(4, device=dev).tolist()\nfirst, second = draw(), draw()\n"
        "third = torch.rand(4, device=dev).tolist()\n"
        "own = torch.Generator('mps').manual_seed(3)\nfourth = torch.rand(4, device=dev, generator=own).tolist()",
    )
    assert python.evaluate("(first == second, first == third, first == fourth)") == (True, False, True)


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (
            "torch.zeros(3, device=dev, dtype=torch.float64)",
            "TypeError: Cannot convert a MPS Tensor to float64",
        ),
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


def test_a_model_is_saved_and_loaded(python):
    run(
        python,
        "a, b = torch.nn.Linear(2, 2).to(dev), torch.nn.Linear(2, 2).to(dev)\ntorch.save(a.state_dict(), 'saved.pt')\n"
        "b.load_state_dict(torch.load('saved.pt', weights_only=True))\nhere = torch.load('saved.pt', map_location='cpu')",
    )
    assert python.evaluate("(b.weight == a.weight).all().item()")
    assert python.evaluate("str(here['weight'].device)") == "cpu"


@pytest.mark.parametrize("wait", ["torch.mps.synchronize()", "b.sum().item()", "b.cpu()", "b.tolist()"])
def test_who_waits_waits_for_the_queue(slow, wait):
    run(
        slow,
        f"torch.mps.synchronize()\ndef queue():\n    global b\n    for _ in range(4): b = a @ a\n"
        f"handed_over, waited = seconds(queue), seconds(lambda: {wait})",
    )
    handed_over, waited = slow.evaluate("(handed_over, waited)")
    assert handed_over < 0.1
    assert waited > 0.1


def test_gpu_time_is_counted_when_the_queue_has_got_there(slow):
    run(
        slow,
        "import emulated_mps as e\ntorch.mps.synchronize()\nbefore = e.gpu_nanoseconds()\nb = a @ a\n"
        "early = e.gpu_nanoseconds() - before\ntorch.mps.synchronize()\nlate = e.gpu_nanoseconds() - before",
    )
    early, late = slow.evaluate("(early, late)")
    assert early < 25e6
    assert late >= 50e6


def test_without_a_compiler_the_reason_is_told(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert building.why_not() == "the emulated MPS device is built by g++, which is not here"
