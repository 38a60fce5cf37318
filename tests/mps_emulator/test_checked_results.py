"""`%%mlc_trace --check` on a Mac's GPU, here an emulated one: gradients too are checked, and errors named."""

from __future__ import annotations

import pytest

STEP = """%%mlc_trace --check
net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 10)).to("mps")
optimizer = torch.optim.AdamW(net.parameters())
loss = F.cross_entropy(net(torch.randn(5, 1, 8, 8, device="mps")), torch.arange(5, device="mps"))
loss.backward()
optimizer.step()
"""

#: A device whose gradient of convolutions and whose adaptive pooling are wrong.
WRONG = """
from torch.utils._python_dispatch import TorchDispatchMode
class Wrong(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if "convolution_backward" in str(function):
            result[1].mul_(1.5)
        if "adaptive_max_pool2d" in str(function):
            result[0].mul_(1.5)
        return result
wrong = Wrong()
wrong.__enter__()
"""


@pytest.fixture(scope="module")
def notebook(start_on_mps):
    made = start_on_mps()
    made.run("import torch\nfrom torch import nn\nfrom torch.nn import functional as F")
    return made


def answer(result):
    assert result.error is None
    return next(data["text/plain"] for kind, data in result.outputs if kind == "display_data")


def test_a_training_step_is_right(notebook):
    assert answer(notebook.run(STEP)).startswith("No wrong result in ")


def test_a_wrong_gradient_is_named_with_the_line_that_asked_for_it_and_its_device(notebook):
    notebook.run(WRONG)
    result = notebook.run(STEP)
    notebook.run("wrong.__exit__(None, None, None)")
    found = answer(result)
    assert found.startswith(
        f"First wrong result: `convolution_backward` on line 5 of [{result.execution_count}] is off by "
    )
    assert "  mps  " in found


def test_a_wrong_operation_that_is_known_to_be_wrong_on_mps_has_its_issue(notebook):
    notebook.run(WRONG)
    result = notebook.run(
        "%%mlc_trace --check\nF.adaptive_max_pool2d(torch.rand(1, 2, 7, 7, device='mps'), 3).cpu()"
    )
    notebook.run("wrong.__exit__(None, None, None)")
    version = notebook.evaluate("torch.__version__")
    told = answer(result).splitlines()[0]
    assert told.startswith("First wrong result: `adaptive_max_pool2d` on line 2 of [")
    assert ("pytorch#190064" in told) == (tuple(map(int, version.split(".")[:2])) < (2, 14))
