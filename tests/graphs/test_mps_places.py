"""Whose a line is: the user's, PyTorch's, an optimizer's, or a library's."""

from __future__ import annotations

import pathlib

import pytest

import jupyter_mlgpu
from jupyter_mlgpu.graphs.mps.places import owner_of, sees_mps


@pytest.mark.parametrize(
    ("file", "owner"),
    [
        ("/home/ada/.local/lib/python3.12/site-packages/torch/nn/functional.py", "torch"),
        ("/usr/lib/python3/dist-packages/torch/optim/adam.py", "optimizer"),
        ("C:\\Python\\Lib\\site-packages\\torch\\nn\\modules\\linear.py", "torch"),
        ("/opt/env/lib/python3.12/site-packages/transformers/models/bert.py", "library"),
        ("/opt/env/lib/python3.12/site-packages/torchvision/models/resnet.py", "library"),
        ("/tmp/ipykernel_7/123.py", "user"),
        ("<ipython-input-3-abc>", "user"),
        ("/home/ada/project/torch/net.py", "user"),
        (pathlib.__file__, "torch"),
        (jupyter_mlgpu.__file__, "torch"),
    ],
)
def test_files_have_an_owner(file, owner):
    assert owner_of(file) == owner


@pytest.mark.parametrize(
    ("file", "sees"),
    [
        ("/usr/lib/python3/dist-packages/torch/functional.py", True),
        ("/opt/env/lib/python3.12/site-packages/torch/optim/lbfgs.py", True),
        ("/opt/env/lib/python3.12/site-packages/torch/distributions/beta.py", True),
        ("/opt/env/lib/python3.12/site-packages/transformers/models/bert.py", True),
        ("/home/ada/net.py", True),
        ("/opt/env/lib/python3.12/site-packages/torch/_subclasses/fake_tensor.py", False),
        ("/opt/env/lib/python3.12/site-packages/torch/_meta_registrations.py", False),
        (jupyter_mlgpu.__file__, False),
    ],
)
def test_only_code_that_chooses_by_device_sees_tensors_on_mps(file, sees):
    assert sees_mps(file) is sees
