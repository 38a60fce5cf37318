"""The networks of `benchmarks/torch_reference.py` are those that we measure, written again."""

import pytest


@pytest.mark.needs("torch")
@pytest.mark.parametrize("name", ["resnet50", "mobilenetv2", "distilbert", "bert-large"])
def test_the_reference_is_the_same_network_written_again(name):
    import torch

    from benchmarks import torch_reference
    from jupyter_mlgpu.measure.frameworks.models import MODELS, tiny
    from jupyter_mlgpu.measure.frameworks.torch.training import build

    with torch.device("meta"):
        assert sum(one.numel() for one in torch_reference.model(name).parameters()) == MODELS[name].parameters
    theirs, ours = torch_reference.model(name, tiny=True).eval(), build(tiny(MODELS[name])).eval()
    text = name in ("distilbert", "bert-large")
    given = torch.randint(0, 100, (2, 16)) if text else torch.randn(2, 3, 32, 32)
    with torch.no_grad():
        for weight, same in zip(ours.parameters(), in_our_order(theirs), strict=True):
            weight.copy_(same)
        assert torch.allclose(theirs(given), ours(given), rtol=1e-4, atol=1e-5)


def in_our_order(network):
    """The reference's weights, with the three matrices of attention as one."""
    import torch

    named = dict(network.named_parameters())
    for name, weight in named.items():
        if ".query." in name:
            yield torch.cat([named[name.replace("query", one)] for one in ("query", "key", "value")])
        elif ".key." not in name and ".value." not in name:
            yield weight
