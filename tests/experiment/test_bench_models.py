"""The four models that are measured: sizes, options, ladders, and PyTorch's and MLX's training of them."""

import re
from dataclasses import replace

import pytest

from jupyter_mlgpu.experiment.bench import suite
from jupyter_mlgpu.experiment.bench.case import CaseRequest
from jupyter_mlgpu.experiment.bench.quantity import Quantity
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.base import Device
from jupyter_mlgpu.measure.frameworks.models import MODELS, Encoder, tiny
from jupyter_mlgpu.measure.frameworks.torch import compilers
from jupyter_mlgpu.record.errors import BenchError

CPU = Device("torch", "cpu:0", "cpu", "cpu")
GPU = Device("torch", "gpu:0", "cuda", "cuda:0")


def asked(device: Device, framework: str = "torch", quick: bool = False) -> CaseRequest:
    return CaseRequest(framework, device, quick, Quantity(2.0**37, "B"))


def still(name: str):
    """A tiny model that draws nothing at random while it trains."""
    model = tiny(MODELS[name])
    if isinstance(model.shape, Encoder):
        return replace(model, shape=replace(model.shape, dropout=0.0))
    return model


@pytest.mark.needs("torch")
@pytest.mark.parametrize("model", MODELS.values(), ids=list(MODELS))
def test_each_model_has_as_many_parameters_as_the_published_one(model):
    import torch

    from jupyter_mlgpu.measure.frameworks.torch.training import build

    with torch.device("meta"):
        assert sum(one.numel() for one in build(model).parameters()) == model.parameters


def test_the_published_numbers_of_parameters_are_these():
    assert MODELS["resnet50"].parameters == 25_557_032
    assert MODELS["mobilenetv2"].parameters == 3_504_872
    assert MODELS["distilbert"].parameters - (768 * 8 + 8) == 66_362_880
    assert MODELS["bert-large"].parameters - (1024 * 8 + 8) == 335_141_888


@pytest.mark.needs("torch")
@pytest.mark.parametrize("name", ["resnet50", "mobilenetv2"])
def test_what_an_image_takes_is_counted_on_the_network_itself(name):
    import torch
    from torch import nn

    from jupyter_mlgpu.measure.frameworks.torch.training import build

    kept = products = 0

    def count(module, given, found):
        nonlocal kept, products
        convolution = isinstance(module, nn.Conv2d)
        kept += found.numel() if convolution else 0
        products += found.numel() * module.weight[0].numel()

    with torch.device("meta"):
        network = build(MODELS[name]).eval()
        for module in network.modules():
            if isinstance(module, nn.Conv2d | nn.Linear):
                module.register_forward_hook(count)
        network(torch.zeros(1, 3, 224, 224))
    assert (kept, products) == (MODELS[name].activations, MODELS[name].products)


def test_operations_of_text_are_those_of_its_matrices_and_of_attention():
    model = MODELS["distilbert"]
    # Six layers of 128 tokens: four matrices of 768 x 768, two of 768 x 3072, and two products of attention.
    matrices = 128 * (4 * 768 * 768 + 2 * 768 * 3072)
    attention = 2 * 12 * 128 * 128 * 64
    assert model.forward_flops() == 2 * 6 * (matrices + attention)


def test_memory_of_training_grows_with_the_batch_and_holds_weights_and_optimizer():
    for model in MODELS.values():
        copies = 4 if model.optimizer == "adam" else 3
        assert model.training_bytes(0) == 4 * copies * model.parameters
        one, two = model.training_bytes(1), model.training_bytes(2)
        assert two - one == one - model.training_bytes(0) > 0
        assert model.training_bytes(8, 2) < model.training_bytes(8, 4)
        assert model.inference_bytes(8) < model.training_bytes(8)


def test_memory_of_the_published_measurements_is_of_the_size_that_was_measured():
    # An M1 Max took 21 GB for ResNet50 at 128 and 13 GB for MobileNetV2, in all and in float32.
    assert 0.4 * 21e9 < MODELS["resnet50"].training_bytes(128) < 21e9
    assert 0.4 * 13e9 < MODELS["mobilenetv2"].training_bytes(128) < 13e9


@pytest.mark.parametrize("framework", registry.OWN)
@pytest.mark.parametrize("kind", ["cpu", "cuda", "metal"])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("model", MODELS.values(), ids=list(MODELS))
def test_every_set_of_a_ladder_can_be_had_on_its_device(framework, kind, training, model):
    sets = registry.training(framework).ladder(model, kind, training)
    assert len(set(sets)) == len(sets) > 0
    for options in sets:
        assert registry.training(framework).why_not(model, options, kind, training) is None


@pytest.mark.parametrize("framework", registry.OWN)
def test_every_option_is_on_some_ladder(framework):
    used = {
        option
        for model in MODELS.values()
        for kind in ("cpu", "cuda", "metal")
        for options in registry.training(framework).ladder(model, kind, True)
        for option in options
    }
    assert used == set(registry.training(framework).options)


@pytest.mark.parametrize(
    ("framework", "options", "kind", "training", "said"),
    [
        ("torch", ["turbo"], "cuda", True, "Unknown option 'turbo'"),
        ("torch", ["flash"], "cuda", True, "ResNet50 takes images"),
        ("torch", ["cuda_graphs"], "cpu", True, "needs a cuda device"),
        ("torch", ["fused"], "cuda", False, "is for training"),
        ("torch", ["bf16", "bf16_weights"], "cuda", True, "are mutually exclusive"),
        ("torch", ["compile", "max_autotune"], "cuda", True, "are mutually exclusive"),
        ("tensorflow", ["bf16", "fp16"], "cuda", True, "are mutually exclusive"),
    ],
)
def test_options_that_cannot_be_had_are_refused_in_a_sentence(framework, options, kind, training, said):
    assert said in registry.training(framework).why_not(MODELS["resnet50"], options, kind, training)


@pytest.mark.parametrize(
    ("kind", "system", "environment", "there", "said"),
    [
        (
            "cpu",
            "linux",
            {},
            ["gcc"],
            "of C\\+\\+ and Python's headers, and PATH has no g\\+\\+. On Debian",
        ),
        ("cpu", "darwin", {}, ["g++"], "PATH has no clang\\+\\+"),
        ("cpu", "linux", {"CXX": "c++-13"}, ["g++"], "PATH has no c\\+\\+-13"),
        ("cuda", "linux", {}, ["g++"], "a compiler of C and Python's headers, and PATH has no gcc or clang"),
        ("cpu", "linux", {}, ["g++"], None),
        ("cuda", "linux", {}, ["clang"], None),
        ("cuda", "linux", {"CC": "gcc-13"}, ["gcc-13"], None),
        ("metal", "darwin", {}, [], None),
    ],
)
def test_where_pytorch_finds_no_compiler_the_cases_that_compile_say_so(
    kind, system, environment, there, said, tmp_path
):
    (tmp_path / "Python.h").touch()

    def why(*options):
        return compilers.why_not_compiling(
            options,
            kind,
            environment=environment,
            which=lambda name: name if name in there else None,
            headers=tmp_path,
            system=system,
        )

    assert why("flash", "fused") is None
    found = why("flash", "compile")
    assert found is None if said is None else re.search(said, found)


def test_a_compiler_without_python_s_headers_is_not_enough(tmp_path):
    found = compilers.why_not_compiling(["compile"], "cpu", which=lambda name: name, headers=tmp_path)
    assert f"and there is no Python.h in {tmp_path}. On Debian" in found


def test_a_case_that_cannot_compile_is_left_out_with_the_reason(monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    case = next(one for one in suite.cases("resnet50", asked(CPU)) if "compile" in one.options)
    with pytest.raises(BenchError, match="PATH has no no-such-compiler"):
        case.prepare(CPU)


def test_a_model_on_a_gpu_is_a_case_for_each_set_and_for_each_larger_batch():
    found = suite.cases("resnet50", asked(GPU))
    trained = [one for one in found if one.parameters.get("mode") == "train"]
    assert {one.parameters["batch"] for one in trained} == {64, 128, 256}
    assert sum(one.parameters["batch"] == 128 for one in trained) == len(
        registry.training("torch").ladder(MODELS["resnet50"], "cuda", True)
    )
    assert {one.type_asked for one in found} == {"float32", "tf32", "bfloat16"}
    assert [one.type_asked for one in found if one.name == "gemm"] == ["float32", "tf32", "bfloat16"]
    half, full = (one for one in trained if one.parameters["batch"] in (64, 256))
    assert full.needs.bytes > half.needs.bytes
    assert full.work.flops == 4 * half.work.flops == 3 * 256 * 2 * 4_089_184_256
    assert full.work.unit == "images"


def test_a_quick_benchmark_of_text_tries_graphs_and_compiled_layers_and_a_larger_batch():
    product, *found = suite.cases("bert-large", asked(GPU, quick=True))
    assert product.label == "gemm n=8192 bfloat16"
    graphs, compiled = ("bf16", "flash", "fused", "cuda_graphs"), ("bf16", "flash", "fused", "compile_layers")
    assert [(one.parameters["mode"], one.parameters["batch"], one.options) for one in found] == [
        ("train", 64, (*compiled, "cuda_graphs")),
        ("train", 16, graphs),
        ("train", 16, (*compiled, "cuda_graphs")),
        ("infer", 16, ("bf16", "flash", "cuda_graphs")),
        ("infer", 16, ("bf16", "flash", "compile_layers", "cuda_graphs")),
    ]
    assert not any(one.slow_to_start for one in found)


def test_a_quick_benchmark_of_images_compiles_after_all_that_starts_at_once():
    found = suite.cases("resnet50", asked(GPU, quick=True))[1:]
    assert [(one.parameters["mode"], one.slow_to_start) for one in found] == [
        ("train", False),
        ("infer", False),
        ("train", True),
        ("infer", True),
    ]


def test_training_on_a_gpu_is_profiled_once_more():
    assert {one.parameters["mode"] for one in suite.cases("distilbert", asked(GPU)) if one.profiled} == {
        "train"
    }
    assert not any(one.profiled for one in suite.cases("distilbert", asked(CPU)))


@pytest.mark.parametrize("framework", registry.OWN)
@pytest.mark.parametrize("kind", ["cpu", "cuda", "metal"])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("model", MODELS.values(), ids=list(MODELS))
def test_every_set_that_may_be_the_fastest_can_be_had_on_its_device(framework, kind, training, model):
    how = registry.training(framework)
    sets = how.candidates(model, kind, training)
    assert len(set(sets)) == len(sets) > 0
    assert all(how.why_not(model, options, kind, training) is None for options in sets)
    slow = [how.slow_to_start(options) for options in sets]
    assert slow == sorted(slow)


def test_bert_large_without_a_gpu_is_left_out_with_the_reason():
    case = suite.cases("bert-large", asked(CPU, quick=True))[1]
    with pytest.raises(BenchError, match="BERT-Large is left out without a GPU"):
        case.prepare(CPU)


@pytest.mark.needs("mlx")
def test_images_with_mlx_are_left_out_with_the_reason():
    case = suite.cases("resnet50", asked(CPU, "mlx", quick=True))[-1]
    with pytest.raises(BenchError, match="no such network of its own"):
        case.prepare(CPU)


def losses(model, options, training=True, steps=3):
    """The loss after one step and after a few, from the same start."""
    import torch

    from jupyter_mlgpu.measure.frameworks.torch.training import TorchTraining

    torch.manual_seed(0)
    ours = TorchTraining(model, 4, options, training=training, rate=0.01)
    ours.run(1)
    ours.wait()
    first = ours.loss()
    ours.run(steps - 1)
    last = ours.loss()
    ours.close()
    return first, last


@pytest.mark.needs("torch")
@pytest.mark.parametrize(
    ("name", "options", "tolerance"),
    [
        ("resnet50", ("channels_last", "fused"), 1e-3),
        pytest.param("mobilenetv2", ("channels_last", "fused"), 1e-3, marks=pytest.mark.slow),
        ("distilbert", ("flash", "fused"), 1e-3),
        ("bert-large", ("flash", "fused"), 1e-3),
        ("resnet50", ("bf16",), 0.03),
        ("mobilenetv2", ("bf16_weights",), 0.05),
        pytest.param("distilbert", ("bf16", "flash"), 0.03, marks=pytest.mark.slow),
        ("bert-large", ("bf16_weights", "flash"), 0.05),
    ],
)
def test_an_option_changes_the_speed_and_not_what_is_learnt(name, options, tolerance):
    plain, given = losses(still(name), ()), losses(still(name), options)
    assert given == pytest.approx(plain, rel=tolerance)
    assert plain[1] < plain[0]


@pytest.mark.slow
@pytest.mark.needs("torch")
@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning"
)  # of modules that torch.compile imports, PyTorch's own
@pytest.mark.filterwarnings(
    "ignore:The .grad attribute of a Tensor that is not a leaf"
)  # torch.compile's own
@pytest.mark.parametrize("option", ["compile", "compile_layers"])
def test_a_compiled_model_learns_what_the_plain_one_does(option):
    if why := compilers.why_not_compiling(["compile"], "cpu"):
        pytest.skip(why)
    plain, compiled = losses(still("distilbert"), ()), losses(still("distilbert"), ("flash", option))
    assert compiled == pytest.approx(plain, rel=1e-3)


@pytest.mark.needs("torch")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name in ("resnet50", "bert-large") else [])
        for name in MODELS
    ],
)
def test_training_lowers_the_loss(name):
    first, last = losses(tiny(MODELS[name]), (), steps=15)
    assert last < 0.7 * first


@pytest.mark.needs("torch")
def test_inference_gives_the_same_with_the_fused_attention():
    plain, flash = (losses(tiny(MODELS["distilbert"]), one, training=False) for one in ((), ("flash",)))
    assert flash == pytest.approx(plain, abs=1e-5)
    assert plain[0] == plain[1]  # nothing is learnt, and nothing is dropped


@pytest.mark.needs("torch")
def test_a_case_of_pytorch_runs_on_this_processor():
    import torch

    from jupyter_mlgpu.experiment.bench.models import start

    before = torch.get_float32_matmul_precision()
    runner = start(
        CPU, model=tiny(MODELS["mobilenetv2"]), framework="torch", batch=4, options=("bf16",), training=True
    )
    runner.run(2)
    runner.wait()
    assert (runner.type_ran, runner.note) == ("bfloat16", None)
    runner.close()
    assert torch.get_float32_matmul_precision() == before


@pytest.mark.slow
@pytest.mark.needs("mlx")
def test_an_encoder_of_mlx_learns_the_same_compiled_and_has_the_same_parameters():
    import mlx.core as mx

    from jupyter_mlgpu.measure.frameworks.mlx.training import MlxTraining
    from jupyter_mlgpu.measure.frameworks.torch.training import build

    model, found = still("bert-large"), []
    for options in ((), ("compile",)):
        mx.random.seed(0)
        ours = MlxTraining(model, 4, options, rate=0.01)
        ours.run(1)
        ours.wait()
        first = ours.loss()
        ours.run(9)
        found.append((first, ours.loss()))
        parameters = ours.parameters
        ours.close()
    assert found[1] == pytest.approx(found[0], rel=1e-3)
    assert found[0][1] < found[0][0]
    assert parameters == sum(one.numel() for one in build(model).parameters())


@pytest.mark.slow
@pytest.mark.needs("mlx")
def test_mlx_in_bfloat16_trains_too():
    from jupyter_mlgpu.measure.frameworks.mlx.training import MlxTraining

    ours = MlxTraining(still("distilbert"), 4, ("bf16_weights", "compile"), rate=0.01)
    ours.run(1)
    first = ours.loss()
    ours.run(9)
    assert ours.type_ran == "bfloat16"
    assert ours.loss() < first
    ours.close()
