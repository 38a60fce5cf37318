"""The forecast for MPS has the operations that PyTorch runs on the emulated device."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import pytest

from jupyter_mlgpu.graphs.mps.trace import trace
from tests.mps_emulator import building
from tests.support import mps_models
from tests.support.later import Later
from tests.support.mps_models.differences import unexplained
from tests.support.mps_models.table import planned, real_counts

torch = Later("torch")


@pytest.fixture(scope="module")
def real(library):
    """The operations of each model's step in a run, nearly all on the device."""
    return real_counts(list(mps_models.NAMES))


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", mps_models.NAMES)
def test_a_training_step_has_the_operations_of_a_real_run(real, name):
    assert isinstance(real[name], dict), real[name]
    counts = planned(name)["plans"]["step"]["counts"]
    assert unexplained(counts, real[name]) == set()
    assert set(counts) & set(real[name])


#: Calls in mixed precision, with `x` of 4 x 4 numbers in float32 and `h` the same in float16.
CASTS = (
    *(
        "x @ x",
        "h @ x",
        "x.mv(x[0])",
        "torch.addmm(x, x, x)",
        "F.linear(x, x)",
        "torch.einsum('ij,jk', x, x)",
    ),
    *(
        "F.conv1d(x[None], x[:, :, None])",
        "F.prelu(x, x[0])",
        "F.conv3d(x[None, None, None], x[None, None, None])",
    ),
    *(
        "F.scaled_dot_product_attention(x[None], x[None], x[None])",
        "h.exp()",
        "h.log()",
        "h.log1p()",
        "h.rsqrt()",
    ),
    *("h.tan()", "h.sin()", "h.sqrt()", "h.reciprocal()", "h ** 2", "2 ** h", "h.softmax(-1)", "h.sum()"),
    *(
        "h.mean()",
        "h.cumsum(0)",
        "h.prod()",
        "h.norm()",
        "h.logsumexp(0)",
        "F.softplus(h)",
        "F.layer_norm(h, (4,))",
    ),
    *("F.rms_norm(h, (4,))", "F.group_norm(h[None], 2)", "F.mse_loss(h, h)", "F.l1_loss(h, h)", "h.max()"),
    *("F.binary_cross_entropy_with_logits(h, h)", "F.cosine_similarity(h, h)", "torch.cdist(h, h)", "h + x"),
    *("torch.addcmul(x, x, h)", "torch.atan2(h, x)", "x[0].dot(h[0])", "torch.cross(x[:3], h[:3], dim=0)"),
    *(
        "torch.cat([h, x])",
        "torch.where(x > 0, x, h)",
        "F.gelu(h)",
        "F.batch_norm(h, None, None, training=True)",
    ),
)
RUN = """
import json, sys
import torch, torch.nn.functional as F
x = torch.rand(4, 4, device="mps") + 0.5
h = x.half()
found = {}
with torch.autocast("mps", dtype=torch.float16):
    for one in json.loads(sys.argv[1]):
        found[one] = str(eval(one).dtype)
print(json.dumps(found))
"""


def test_mixed_precision_gives_the_types_that_it_gives_on_the_device(library):
    environment = {**os.environ, **building.environment(library)}
    done = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps(CASTS)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    found = io.StringIO()

    def step(x, h):
        names = {"x": x, "h": h, "torch": torch, "F": torch.nn.functional}
        with torch.autocast("mps", dtype=torch.float16):
            found.write(json.dumps({one: str(eval(one, names).dtype) for one in CASTS}))

    traced = trace(step, (torch.ones(4, 4), torch.ones(4, 4).half()), train=False)
    assert traced.untraced == ()
    assert json.loads(found.getvalue()) == json.loads(done.stdout)
