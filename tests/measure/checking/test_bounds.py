"""Bounds follow the number type, the settings and the number of terms, and are not so wide that they hide."""

import pytest

pytestmark = pytest.mark.needs("torch")


def bound_of(run):
    """Run one operation that is 50 % off, and return the error that its type explains, over its size."""
    from torch.utils._python_dispatch import TorchDispatchMode

    from jupyter_mlgpu.measure.checking.check_mode import checking

    class Wrong(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            return function(*args, **(kwargs or {})) * 1.5

    with Wrong(), checking() as checker:
        run()
    deviation = checker.result().first[0].deviation
    return deviation.explained / (2 * deviation.off)


def test_a_lower_type_explains_more():
    import torch

    torch.manual_seed(0)
    x = torch.rand(64, 64) + 0.5
    bounds = [
        bound_of(lambda one=one: one @ one)
        for one in (x.double(), x, x.to(torch.float16), x.to(torch.bfloat16))
    ]
    assert bounds == sorted(bounds)
    assert bounds[0] < 1e-13
    assert bounds[1] < 1e-5
    assert bounds[2] < 1e-2
    assert bounds[3] < 5e-2


def test_functions_by_element_explain_a_few_units_in_the_last_place():
    import torch

    x = torch.linspace(0.5, 2, 50)
    assert bound_of(lambda: x + x) < 1e-6
    assert bound_of(lambda: x.exp()) < 1e-5
    assert bound_of(lambda: torch.nn.functional.gelu(x)) < 1e-5


def test_tf32_is_explained_where_it_is_allowed():
    import torch

    from jupyter_mlgpu.measure.checking.roundoff import TF32, input_unit

    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("highest")
        assert input_unit([torch.float32], "cuda", "mm") == 0
        torch.set_float32_matmul_precision("high")
        assert input_unit([torch.float32], "cuda", "mm") == TF32
        assert input_unit([torch.float32], "cuda", "exp") == 0
        assert input_unit([torch.float64], "cuda", "mm") == 0
        assert input_unit([torch.float32], "mps", "mm") == 0
    finally:
        torch.set_float32_matmul_precision(before)
    assert input_unit([torch.float32], "cuda", "convolution") == TF32  # on at the start


def test_a_sum_that_no_longer_grows_is_explained_in_bfloat16():
    import torch

    from jupyter_mlgpu.measure.checking.roundoff import UNIT, gamma

    assert float(gamma(1000, UNIT["bfloat16"])) == 1
    assert float(gamma(10, UNIT["float32"])) == pytest.approx(10 * 2**-24, rel=1e-5)
    assert torch.is_tensor(gamma(torch.tensor([1, 2]), UNIT["float32"]))


def test_a_gradient_that_stops_growing_is_named():
    import torch

    from jupyter_mlgpu.measure.checking.check_mode import checking

    layer = torch.nn.LayerNorm(4, dtype=torch.bfloat16)
    y = layer(torch.randn(3000, 4, dtype=torch.bfloat16))
    with checking() as checker:
        y.backward(torch.ones_like(y))
    if float(layer.bias.grad[0]) < 1000:  # as PyTorch 2.13 has it on the CPU
        assert checker.result().first[0].operation == "aten.native_layer_norm_backward"


def test_the_gradient_of_a_norm_over_many_rows_is_explained_in_lower_types():
    import torch

    from jupyter_mlgpu.measure.checking.check_mode import checking

    torch.manual_seed(0)
    for dtype in (torch.bfloat16, torch.float16):
        y = torch.nn.LayerNorm(32, dtype=dtype)(torch.randn(1000, 32, dtype=dtype))
        with checking() as checker:
            y.backward(torch.randn_like(y))
        assert checker.result().first == ()


def test_a_fused_adam_that_corrects_its_bias_in_float32_is_right():
    import numpy
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    from jupyter_mlgpu.measure.checking.check_mode import checking

    class InFloat32(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            before = args[0][0].clone() if function is torch.ops.aten._fused_adam_.default else None
            result = function(*args, **(kwargs or {}))
            if before is not None:
                one = numpy.float32(1)
                exact = [1 - kwargs[name] for name in ("beta1", "beta2")]
                rounded = [float(one - numpy.float32(kwargs[name])) for name in ("beta1", "beta2")]
                update = args[0][0] - before
                factor = exact[0] / rounded[0] * (rounded[1] / exact[1]) ** 0.5
                args[0][0].copy_(before + (update.double() * factor).float())
            return result

    torch.manual_seed(0)
    parameter, gradient = torch.randn(50) * 0.01, torch.randn(50)
    with InFloat32(), checking() as checker:
        torch._fused_adam_(
            [parameter], [gradient], [torch.zeros(50)], [torch.zeros(50)], [], [torch.tensor(1.0)],
            lr=0.01, beta1=0.9, beta2=0.999, weight_decay=0.0, eps=1e-8, amsgrad=False, maximize=False,
        )  # fmt: skip
    assert checker.result().first == ()
