"""Models that people use are planned whole for MPS, in seconds, and what issues name is named."""

from __future__ import annotations

import sys

import pytest

from tests.support import mps_models
from tests.support.mps_models.differences import unexplained
from tests.support.mps_models.table import planned

pytestmark = pytest.mark.needs("torch")

#: What has no kernel on MPS in PyTorch 2.13, or is wrong there (pytorch#141287, #77764, #190064), by model.
NAMED = {
    "ctc_speech": {"_ctc_loss": "missing", "_ctc_loss_backward": "missing"},
    "wav2vec2": {"_ctc_loss": "missing", "_ctc_loss_backward": "missing"},
    "pca": {"linalg_svd": "fallback", "_linalg_eigh": "missing"},
    "weight_norm": {"linalg_matrix_exp": "missing"},
    "normalizing_flow": {"linalg_lu_solve": "missing"},
    "contrastive": {"_pdist_forward": "missing", "_pdist_backward": "missing"},
    "spatial_transformer": {"adaptive_max_pool2d": "wrong"},
    "int8": {"quantize_per_tensor": "missing", "dequantize.self": "missing"},
    "quantization_aware": {
        "fake_quantize_per_tensor_affine_cachemask": "missing",
        "fake_quantize_per_channel_affine_cachemask": "missing",
    },
}
SECONDS, MEGABYTES = 6, 500


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads memory in /proc")
@pytest.mark.parametrize("name", mps_models.NAMES)
def test_a_model_is_planned_whole_in_seconds_and_what_has_no_kernel_is_named(name):
    if name in mps_models.MODELS["hugging_face"]:
        pytest.importorskip("transformers")
    found = planned(name)
    assert found["megabytes"] < MEGABYTES
    for plan in found["plans"].values():
        assert plan["untraced"] == []
        assert plan["sources"]
        assert plan["seconds"] < SECONDS
    step = found["plans"]["step"]
    if step["version"] == "2.13":
        assert step["attention"] == NAMED.get(name, {})


def test_a_difference_is_explained_only_beside_what_it_belongs_to():
    assert unexplained({"linear", "relu"}, {"addmm", "t", "relu"}) == set()
    assert unexplained({"relu"}, {"addmm", "relu"}) == {"addmm"}
    assert unexplained({"sin"}, {"cos"}) == {"sin", "cos"}
