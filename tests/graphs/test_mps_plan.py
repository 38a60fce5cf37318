"""`jupyter_mlgpu.plan(..., target="mps")` of PyTorch's modules and functions, as the tables have it."""

from __future__ import annotations

import pytest

import jupyter_mlgpu
from jupyter_mlgpu.graphs.mps import tables
from jupyter_mlgpu.graphs.mps.forecast import Around, judge
from jupyter_mlgpu.graphs.mps.trace import trace
from jupyter_mlgpu.record.errors import PlanError
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.show.mps.headline import headline
from tests.support.later import Later

pytestmark = pytest.mark.needs("torch")

torch, nn, F = Later("torch"), Later("torch.nn"), Later("torch.nn.functional")


def found(function, *arguments, version="2.13"):
    """What a version does with the operations of a function that need attention."""
    traced = trace(function, arguments, train=False)
    forecast = judge(traced, tables.load(version), version, say("it"), Around())
    return {
        one.operation: one.judgement
        for one in forecast.operations
        if one.judgement not in ("gpu", "composite")
    }


def square():
    return torch.randn(4, 4, requires_grad=True)


def test_a_training_step_of_ordinary_layers_has_a_kernel_for_all_of_it():
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 2))
    forecast = jupyter_mlgpu.plan(model, torch.randn(2, 3, 8, 8), torch.tensor([0, 1]), target="mps")
    assert headline(forecast).startswith(f"All {forecast.kinds} kinds of operations in the training step")
    assert len(forecast.others) == len(tables.versions()) - 1


@pytest.mark.parametrize(
    ("name", "version", "expected"),
    [
        ("svd", "2.13", {"linalg_svd": "fallback"}),
        ("svd", "2.15", {}),
        ("svdvals", "2.13", {"_linalg_svd": "missing"}),
        ("eigh", "2.13", {"_linalg_eigh": "missing"}),
        ("eigh", "2.15", {}),
        ("eig", "2.15", {"linalg_eig": "missing"}),
        ("mode", "2.15", {"mode": "missing"}),
        ("matrix_exp", "2.13", {"linalg_matrix_exp": "missing"}),
        ("matrix_exp", "2.15", {}),
        ("poisson", "2.13", {"poisson": "missing"}),
        ("poisson", "2.15", {}),
        ("fft", "2.13", {}),
        ("einsum", "2.13", {}),
        ("sort", "2.13", {}),
        ("double", "2.13", {"_to_copy": "type", "sin": "type"}),
        ("adaptive max pooling of volumes", "2.15", {"adaptive_max_pool3d": "missing"}),
        ("limited embedding", "2.15", {"embedding_renorm_": "fallback"}),
    ],
)
def test_single_operations_are_judged_by_their_version(name, version, expected):
    functions = {
        "svd": (torch.linalg.svd, square()),
        "svdvals": (torch.linalg.svdvals, square()),
        "eigh": (torch.linalg.eigh, square()),
        "eig": (torch.linalg.eig, square()),
        "mode": (torch.mode, square()),
        "matrix_exp": (torch.matrix_exp, square()),
        "poisson": (torch.poisson, torch.ones(3)),
        "fft": (lambda x: torch.fft.fft2(x).abs().sum().backward(), square()),
        "einsum": (lambda x: torch.einsum("ij,kj->ik", x, x).sum().backward(), square()),
        "sort": (torch.sort, square()),
        "double": (lambda x: x.double().sin(), square()),
        "adaptive max pooling of volumes": (lambda x: F.adaptive_max_pool3d(x, 1), torch.ones(1, 2, 4, 4, 4)),
        "limited embedding": (nn.Embedding(5, 3, max_norm=1.0), torch.tensor([1, 2])),
    }
    function, value = functions[name]
    assert found(function, value, version=version) == expected


#: Calls that have kernels, or are made of what has, since PyTorch 2.13. Each is given a matrix of 4 x 4.
RUN = {
    "inv": lambda x: torch.linalg.inv(x),
    "det": lambda x: torch.linalg.det(x),
    "qr": lambda x: torch.linalg.qr(x),
    "cholesky": lambda x: torch.linalg.cholesky(x),
    "solve": lambda x: torch.linalg.solve(x, x),
    "lu": lambda x: torch.linalg.lu(x),
    "norm": lambda x: torch.linalg.norm(x),
    "cumsum": lambda x: x.cumsum(0),
    "logcumsumexp": lambda x: x.logcumsumexp(0),
    "topk": lambda x: x.topk(2),
    "kthvalue": lambda x: x.kthvalue(2),
    "median": lambda x: x.median(),
    "unique": lambda x: torch.unique(x),
    "nonzero": lambda x: torch.nonzero(x),
    "masked": lambda x: x[x > 0].sum(),
    "bincount": lambda x: torch.bincount(x.long().flatten()),
    "histc": lambda x: torch.histc(x),
    "multinomial": lambda x: torch.multinomial(x.abs(), 2),
    "tril": lambda x: torch.tril(x),
    "cdist": lambda x: torch.cdist(x, x),
    "unfold": lambda x: F.unfold(x[None, None], 2),
    "fold": lambda x: F.fold(x[None, :, :2], (3, 1), (2, 1)),
    "grid sample": lambda x: F.grid_sample(x[None, None], torch.rand(1, 3, 3, 2)),
    "bilinear": lambda x: F.interpolate(x[None, None], scale_factor=2, mode="bilinear"),
    "complex product": lambda x: torch.complex(x, x) @ torch.complex(x, x),
    "repeat interleave": lambda x: x.repeat_interleave(torch.tensor([1, 2, 3, 4]), 0),
    "bucketize": lambda x: torch.bucketize(x, torch.arange(3.0)),
    "i0": lambda x: torch.special.i0(x),
    "erfinv": lambda x: torch.erfinv(x),
    "digamma": lambda x: torch.digamma(x),
    "roll": lambda x: x.roll(1),
    "gather": lambda x: x.gather(0, torch.zeros(1, 4, dtype=torch.long)),
    "scatter": lambda x: x.scatter_add(0, torch.zeros(1, 4, dtype=torch.long), x),
    "where": lambda x: torch.where(x > 0, x, -x),
    "attention": lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None]),
    "cross entropy": lambda x: F.cross_entropy(x, torch.tensor([0, 1, 2, 3])),
    "rms norm": lambda x: F.rms_norm(x, (4,)),
    "conv1d": lambda x: F.conv1d(x[None], torch.ones(2, 4, 3)),
    "vmap": lambda x: torch.vmap(lambda row: row.sin().sum())(x),
    "grad": lambda x: torch.func.grad(lambda y: y.sin().sum())(x),
}


@pytest.mark.parametrize("name", RUN)
def test_these_operations_need_no_attention(name):
    assert found(RUN[name], torch.randn(4, 4)) == {}


def test_the_backward_pass_is_judged_too():
    def ctc(scores):
        lengths = torch.tensor([4]), torch.tensor([2])
        F.ctc_loss(scores.log_softmax(-1), torch.tensor([[1, 2]]), *lengths).backward()

    def enlarge(x):
        F.interpolate(x, scale_factor=2, mode="bicubic", antialias=True).sum().backward()

    scores, image = torch.randn(4, 1, 5, requires_grad=True), torch.randn(1, 1, 4, 4, requires_grad=True)
    assert found(ctc, scores) == {"_ctc_loss": "missing", "_ctc_loss_backward": "missing"}
    assert found(ctc, scores, version="2.15") == {}
    assert found(enlarge, image) == {"_upsample_bicubic2d_aa_backward": "missing"}
    assert found(enlarge, image, version="2.15") == {}


def test_a_table_of_another_version_than_the_installed_one_is_told(monkeypatch):
    monkeypatch.setattr("importlib.metadata.version", lambda name: "2.99.0")
    forecast = jupyter_mlgpu.plan(torch.sin, torch.ones(3), target="mps")
    assert forecast.version == tables.versions()[-1]
    assert "There is no table for PyTorch 2.99" in str(forecast.assumptions)


def test_what_is_no_module_and_no_function_is_refused_in_one_sentence():
    with pytest.raises(PlanError, match="An object of type int cannot be planned for mps"):
        jupyter_mlgpu.plan(7, target="mps")
    with pytest.raises(PlanError, match="choose the target mps"):
        jupyter_mlgpu.plan(nn.Linear(3, 3), torch.ones(2, 3))
