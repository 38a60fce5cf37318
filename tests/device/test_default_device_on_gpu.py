"""What correct code does while `%mlc_device gpu` has made a CUDA GPU PyTorch's default device.

    python -m pytest -c tests/device/pytest.ini --rootdir=. tests/device/test_default_device_on_gpu.py

Each cell gives the same values as on the CPU. Without a GPU everything here is skipped, and says so.
"""

from __future__ import annotations

import pytest

from jupyter_mlgpu.measure.frameworks import registry


class Labelled:
    """A data set whose labels are numbers, of which a loader makes tensors."""

    def __len__(self):
        return 8

    def __getitem__(self, index):
        import torch

        return torch.full((2,), float(index), device="cpu"), index


def seeded(torch):
    return torch.Generator().manual_seed(7)


def shuffled(torch, **options):
    loader = torch.utils.data.DataLoader(Labelled(), batch_size=4, **options)
    return [(one.tolist(), labels.tolist()) for one, labels in loader]


def weight(torch):
    layer = torch.nn.Linear(3, 3)
    torch.nn.init.normal_(layer.weight, generator=seeded(torch))
    return layer.weight.tolist()


CELLS = {
    "shuffled": lambda torch: shuffled(torch, shuffle=True, generator=seeded(torch)),
    "with workers": lambda torch: shuffled(torch, num_workers=2),
    "shuffled by workers": lambda torch: shuffled(
        torch, num_workers=2, shuffle=True, generator=seeded(torch), pin_memory=True
    ),
    "split": lambda torch: [
        list(one) for one in torch.utils.data.random_split(range(9), [6, 3], generator=seeded(torch))
    ],
    "weighted": lambda torch: list(
        torch.utils.data.WeightedRandomSampler([0.1, 0.9], 5, generator=seeded(torch))
    ),
    "drawn": lambda torch: torch.randn(4, generator=seeded(torch)).tolist(),
    "drawn in place": lambda torch: torch.empty(4).normal_(generator=seeded(torch)).tolist(),
    "initialised": weight,
    "pinned": lambda torch: torch.zeros(3, pin_memory=True).tolist(),
    "given to fill": lambda torch: torch.arange(
        3, out=torch.empty(3, dtype=torch.int64, device="cpu")
    ).tolist(),
}


@pytest.fixture
def on_gpu(torch):
    backend = registry.backend("torch")
    scope = backend.enter(backend.devices()[-1])
    yield torch
    scope.leave()


@pytest.mark.parametrize("cell", CELLS.values(), ids=CELLS)
def test_correct_code_gives_what_it_gives_on_the_cpu(torch, request, cell):
    expected = cell(torch)
    assert cell(request.getfixturevalue("on_gpu")) == expected


def test_new_tensors_are_on_the_gpu(on_gpu):
    assert on_gpu.get_default_device().type == "cuda"
    drawn = on_gpu.randn(4, generator=seeded(on_gpu), requires_grad=True)
    assert (drawn.device.type, drawn.is_leaf, on_gpu.zeros(1).device.type) == ("cuda", True, "cuda")
    loader = on_gpu.utils.data.DataLoader(Labelled(), batch_size=4, shuffle=True)
    assert {labels.device.type for _, labels in loader} == {"cuda"}


def test_a_generator_of_the_gpu_still_shuffles(on_gpu):
    shuffle = shuffled(on_gpu, shuffle=True, generator=on_gpu.Generator(device="cuda"))
    assert sorted(label for _, labels in shuffle for label in labels) == list(range(8))


def test_a_model_is_compiled_and_trained(on_gpu):
    model = on_gpu.compile(on_gpu.nn.Sequential(on_gpu.nn.Linear(4, 4), on_gpu.nn.Dropout(0.5)))
    optimizer = on_gpu.optim.Adam(model.parameters())
    for _ in range(3):
        model(on_gpu.randn(2, 4)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    assert {one.device.type for one in model.parameters()} == {"cuda"}
