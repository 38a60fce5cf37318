"""PyTorch's default device as `%mlc_device` sets it: correct code still works, and PyTorch finds the device.

`meta` stands for the GPU where no values are needed. Where they are, the CPU does, and each generator counts
as one of another device. tests/mps_emulator and tests/device have a GPU.
"""

import os

import pytest

from jupyter_mlgpu.measure.frameworks.base import Device

pytestmark = [pytest.mark.small, pytest.mark.needs("torch")]


@pytest.fixture
def torch():
    import torch

    yield torch
    torch.set_default_device(None)


@pytest.fixture
def scope(torch):
    from jupyter_mlgpu.measure.frameworks.torch.scope import TorchScope

    return TorchScope(Device("torch", "gpu:0", "metal", "meta"))


@pytest.fixture
def like_mps(torch, monkeypatch):
    """`meta` lacks the types that Apple's GPU lacks."""
    from jupyter_mlgpu.measure.frameworks.torch import default_device

    monkeypatch.setitem(default_device.MISSING_TYPES, "meta", default_device.MISSING_TYPES["mps"])
    default_device.select("meta")


@pytest.fixture
def with_generators_elsewhere(torch, monkeypatch):
    """The CPU is the default device, and no generator is one of it."""
    from jupyter_mlgpu.measure.frameworks.torch import default_device

    monkeypatch.setattr(default_device.selected_device(), "is_elsewhere", lambda self, generator: True)
    default_device.select("cpu")


def test_pytorch_finds_the_device_and_creates_tensors_there(torch, scope):
    assert torch.get_default_device() == torch.device("meta")
    created = [torch.zeros(2), torch.tensor([1.0]), torch.nn.Linear(2, 2).weight]
    assert {one.device.type for one in created} == {"meta"}
    assert torch.zeros(2, device="cpu").device.type == "cpu"
    assert torch.Generator().device.type == "cpu"


def test_leaving_restores_the_default_device_of_before(torch, scope):
    assert scope.holds()
    assert scope.leave() is None
    assert torch.zeros(2).device.type == "cpu"


def test_a_device_of_the_users_own_wins_and_is_told(torch, scope):
    with torch.device("cpu"):
        assert torch.zeros(2).device.type == "cpu"
        assert not scope.holds()
    assert torch.zeros(2).device.type == "meta"
    torch.set_default_device("cpu")
    assert torch.zeros(2).device.type == "cpu"
    assert "set PyTorch's default device itself" in str(scope.leave())


def test_torch_compile_traces_one_graph_that_creates_tensors_there(torch, scope):
    def step(x):
        return torch.sin(x) + torch.ones(4) + torch.arange(4)

    graphs = []
    torch._dynamo.reset()
    compiled = torch.compile(
        step, fullgraph=True, backend=lambda graph, inputs: graphs.append(graph) or graph
    )
    assert {compiled(torch.randn(4)).device.type for _ in range(2)} == {"meta"}
    assert len(graphs) == 1


def seeded(torch):
    return torch.Generator().manual_seed(7)


DRAWS = {
    "constructor": lambda torch: torch.randn(4, generator=seeded(torch), requires_grad=True),
    "permutation": lambda torch: torch.randperm(9, generator=seeded(torch)),
    "in place": lambda torch: torch.empty(4).normal_(generator=seeded(torch)),
    "initialised": lambda torch: torch.nn.init.uniform_(torch.empty(4, 4), generator=seeded(torch)),
    "parameter": lambda torch: torch.nn.init.normal_(torch.nn.Linear(3, 3).weight, generator=seeded(torch)),
    "probabilities": lambda torch: torch.bernoulli(torch.full((9,), 0.5), generator=seeded(torch)),
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_a_draw_has_the_values_of_its_generators_own_device(torch, monkeypatch, request, draw):
    expected = draw(torch)
    request.getfixturevalue("with_generators_elsewhere")
    drawn = draw(torch)
    assert torch.equal(drawn, expected)
    assert (drawn.requires_grad, drawn.is_leaf) == (expected.requires_grad, expected.is_leaf)


def test_what_is_drawn_in_place_is_the_same_tensor(torch, with_generators_elsewhere):
    weight = torch.nn.Linear(3, 3).weight
    assert torch.nn.init.normal_(weight, generator=seeded(torch)) is weight


def batches(torch, **options):
    numbers = torch.utils.data.DataLoader(range(9), batch_size=4, **options)
    return [batch.tolist() for batch in numbers]


def test_samplers_and_loaders_draw_as_without_a_default_device(torch, request):
    def all_of_them():
        data = torch.utils.data
        return [
            batches(torch, shuffle=True, generator=seeded(torch)),
            [list(one) for one in data.random_split(range(9), [6, 3], generator=seeded(torch))],
            list(data.WeightedRandomSampler([0.1, 0.9], 5, generator=seeded(torch))),
        ]

    expected = all_of_them()
    request.getfixturevalue("with_generators_elsewhere")
    assert all_of_them() == expected


def test_a_new_tensor_drawn_by_a_generator_of_the_cpu_is_on_the_device(torch, scope):
    assert torch.randperm(9, generator=torch.Generator()).device.type == "meta"


def test_what_the_device_cannot_hold_is_created_on_the_cpu(torch, like_mps):
    import numpy as np

    doubles = [
        torch.zeros(2, dtype=torch.float64),
        torch.tensor(np.ones(2)),
        torch.as_tensor(torch.zeros(2, dtype=torch.complex128, device="cpu")),
    ]
    singles = [torch.zeros(2), torch.tensor([1.5]), torch.as_tensor(np.ones(2), dtype=torch.float32)]
    assert {one.device.type for one in doubles} == {"cpu"}
    assert {one.device.type for one in singles} == {"meta"}


def test_a_tensor_given_to_fill_decides_its_own_device(torch, scope):
    given = torch.empty(3, dtype=torch.int64, device="cpu")
    assert torch.arange(3, out=given) is given


def test_a_forked_child_has_no_default_device_of_ours(torch, scope):
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, torch.zeros(1).device.type.encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(write)
    with os.fdopen(read) as answer:
        assert answer.read() == "cpu"
    assert torch.zeros(1).device.type == "meta"


class DefaultDevices:
    """A data set whose items say if the process that reads them has a default device."""

    def __len__(self):
        return 2

    def __getitem__(self, index):
        import torch

        return torch._GLOBAL_DEVICE_CONTEXT.device_context is not None


def test_forked_workers_of_a_loader_have_no_default_device(torch, with_generators_elsewhere):
    def answers(workers):
        loader = torch.utils.data.DataLoader(DefaultDevices(), batch_size=2, num_workers=workers)
        return [batch.tolist() for batch in loader]

    assert answers(0) == [[True, True]]
    assert answers(1) == [[False, False]]


@pytest.mark.parametrize(
    ("kind", "native", "call"),
    [("metal", "mps", "to('mps', torch.float32)"), ("cuda", "cuda:0", "to('cuda:0')")],
)
def test_64_bit_floats_are_told_to_move_to_a_macs_gpu_as_32_bit_ones(torch, kind, native, call):
    from jupyter_mlgpu.measure.frameworks.torch.tensors import moving_call

    gpu = Device("torch", "gpu:0", kind, native)
    assert moving_call(torch.zeros(2, dtype=torch.float64), gpu) == call
    assert moving_call(torch.zeros(2), gpu) == moving_call(torch.nn.Linear(1, 1), gpu) == f"to('{native}')"
