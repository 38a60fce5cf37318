"""The fast paths of training with PyTorch on an NVIDIA GPU: each learns what the plain one does.

About two minutes, most of it compiling:

    python3 -m pytest -c tests/device/pytest.ini --rootdir=. tests/device/test_bench_models_on_gpu.py
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from jupyter_mlgpu.measure.frameworks.models import MODELS, Encoder, tiny
from jupyter_mlgpu.measure.frameworks.torch.training import BEFORE_RECORDING, TorchTraining

STEPS = 8


def still(name):
    """A tiny model that draws nothing at random while it trains."""
    model = tiny(MODELS[name])
    if isinstance(model.shape, Encoder):
        return replace(model, shape=replace(model.shape, dropout=0.0))
    return model


def learnt(torch, name, options):
    """The loss after `STEPS` steps; those before a recording are steps, too."""
    torch.manual_seed(0)
    ours = TorchTraining(still(name), 16, options, "cuda", rate=0.01 if name == "resnet50" else 0.001)
    ours.run(STEPS - BEFORE_RECORDING if "cuda_graphs" in options else STEPS)
    found = ours.loss()
    ours.close()
    return found


@pytest.mark.parametrize(
    ("name", "options", "tolerance"),
    [
        ("resnet50", ("channels_last", "fused", "cuda_graphs"), 0.02),
        ("distilbert", ("flash", "fused", "cuda_graphs"), 0.02),
        ("distilbert", ("cuda_graphs",), 0.02),  # without the fused optimizer
        ("distilbert", ("tf32",), 0.02),
        ("distilbert", ("flash", "fused", "compile"), 0.02),
        ("distilbert", ("flash", "fused", "compile", "cuda_graphs"), 0.02),
        ("distilbert", ("flash", "fused", "reduce_overhead"), 0.02),
        ("distilbert", ("flash", "fused", "compile_layers", "cuda_graphs"), 0.02),
        ("distilbert", ("bf16", "flash", "fused", "compile", "cuda_graphs"), 0.1),
        ("resnet50", ("channels_last", "fused", "compile", "cuda_graphs"), 0.05),
    ],
)
def test_a_fast_path_learns_what_the_plain_one_does(torch, name, options, tolerance):
    assert learnt(torch, name, options) == pytest.approx(learnt(torch, name, ()), rel=tolerance)


def test_a_recorded_graph_learns_on_with_each_replay(torch):
    torch.manual_seed(0)
    ours = TorchTraining(still("distilbert"), 16, ("flash", "fused", "cuda_graphs"), "cuda", rate=0.01)
    ours.run(1)
    first = ours.loss()
    ours.run(20)
    assert ours.loss() < 0.7 * first
    ours.close()


def test_what_is_compiled_already_can_be_recorded_afterwards(torch):
    torch.manual_seed(0)
    ours = TorchTraining(still("mobilenetv2"), 16, ("channels_last", "fused", "compile"), "cuda", rate=0.01)
    ours.run(3)
    ours.record()
    ours.run(1)
    first = ours.loss()
    ours.run(20)
    assert ours.loss() < first
    ours.close()
