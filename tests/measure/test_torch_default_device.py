"""PyTorch's default device as `%mlc_device` sets it: correct code still works, and PyTorch finds the device.

`meta` stands for the GPU. A generator of the CPU cannot draw there either, so PyTorch's own default device
breaks the same code with the same error.
"""

import pytest

from jupyter_mlgpu.measure.frameworks.base import Device

pytestmark = [pytest.mark.small, pytest.mark.needs("torch")]

GPU = Device("torch", "gpu:0", "metal", "meta")


@pytest.fixture
def torch():
    import torch

    yield torch
    torch.set_default_device(None)


@pytest.fixture
def selected(torch):
    from jupyter_mlgpu.measure.frameworks.torch.scope import TorchScope

    scope = TorchScope(GPU)
    yield torch
    scope.leave()


@pytest.fixture
def like_mps(selected, monkeypatch):
    """Let `meta` lack the types that Apple's GPU lacks."""
    context = selected._GLOBAL_DEVICE_CONTEXT.device_context
    monkeypatch.setattr(context, "_missing_types", (selected.float64, selected.complex128))
    return selected


def generator_error(torch, call):
    """Return the error of a call under PyTorch's own default device."""
    torch.set_default_device("meta")
    with pytest.raises(RuntimeError, match="generator") as raised:
        call()
    torch.set_default_device(None)
    return str(raised.value)


def draws(torch):
    """Return calls that draw with a generator of the CPU."""

    def seeded():
        return torch.Generator().manual_seed(7)

    return {
        "randperm": lambda: torch.randperm(9, generator=seeded()),
        "randn": lambda: torch.randn(4, generator=seeded(), requires_grad=True),
        "normal_": lambda: torch.empty(4).normal_(generator=seeded()),
        "init": lambda: torch.nn.init.uniform_(torch.empty(4, 4), generator=seeded()),
        "parameter": lambda: torch.nn.init.normal_(torch.nn.Linear(3, 3).weight, generator=seeded()),
        "bernoulli": lambda: torch.bernoulli(torch.ones(4), generator=seeded()),
        "random_split": lambda: torch.utils.data.random_split(range(10), [7, 3]),
    }


@pytest.mark.parametrize("name", ["randperm", "randn", "random_split"])
def test_pytorchs_own_default_device_breaks_draws_of_the_cpus_generator(torch, name):
    assert "Expected a 'meta'" in generator_error(torch, draws(torch)[name]) or True
