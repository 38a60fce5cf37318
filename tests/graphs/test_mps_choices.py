"""Code that chooses by the device, by mixed precision or by a value takes the way that it takes on MPS."""

from __future__ import annotations

import pytest

from jupyter_mlgpu.graphs.mps import mixed_precision
from jupyter_mlgpu.graphs.mps.trace import trace
from tests.support.later import Later

pytestmark = pytest.mark.needs("torch")

torch, nn, F = Later("torch"), Later("torch.nn"), Later("torch.nn.functional")


def named(traced, *, phase=None):
    return {one.operation for one in traced.operations if phase in (None, one.phase)}


def dtypes(traced, operation):
    return [set(one.dtypes) for one in traced.operations if one.operation == operation]


# --- The device -------------------------------------------------------------------------------------


def test_the_users_code_sees_tensors_on_mps():
    def step(x):
        if x.device.type == "mps":
            return torch.zeros(3, device=x.device) + x.sin()
        return x.cos()

    traced = trace(step, (torch.ones(3),), train=False)
    assert traced.untraced == ()
    assert "sin" in named(traced)
    assert "cos" not in named(traced)
    assert torch.ones(3).device.type == "cpu"


def test_the_users_code_is_told_that_a_tensor_is_on_mps():
    traced = trace(lambda x: x.sin() if x.is_mps else x.cos(), (torch.ones(3),), train=False)
    assert named(traced) == {"sin"}
    assert not torch.ones(3).is_mps


def test_a_generator_for_a_gpu_is_made_without_one():
    outside = torch.Generator()

    def step(x):
        assert isinstance(outside, torch.Generator)
        generator = torch.Generator(x.device).manual_seed(3)
        return torch.rand(3, generator=generator, device=x.device) + x

    before = torch.Generator
    traced = trace(step, (torch.ones(3),), train=False)
    assert traced.untraced == ()
    assert "rand.generator" in named(traced)
    assert torch.Generator is before


def test_a_norm_is_the_one_of_mps():
    traced = trace(lambda x: x.norm(2, dim=1), (torch.ones(3, 3),), train=False)
    assert "norm.ScalarOpt_dim" in named(traced)


def test_one_hot_vectors_have_the_operations_of_a_device():
    traced = trace(lambda x: F.one_hot(x, 4), (torch.tensor([1, 2]),), train=False)
    assert {"zeros", "scatter_.value"} <= named(traced)
    traced = trace(lambda x: F.one_hot(x).float() @ torch.ones(2, 3), (torch.tensor([0, 1]),), train=False)
    assert traced.untraced == ()


def test_products_of_groups_are_traced_in_float32():
    if not hasattr(F, "grouped_mm"):
        pytest.skip("this PyTorch has no such function")

    def step(x, weights, ends):
        made = F.grouped_mm(x, weights, offs=ends)
        assert made.shape == (8, 4)
        made.square().sum().backward()

    x, weights = torch.randn(8, 16, requires_grad=True), torch.randn(2, 16, 4, requires_grad=True)
    traced = trace(step, (x, weights, torch.tensor([3, 8], dtype=torch.int32)), train=False)
    assert traced.untraced == ()
    assert sum(one.count for one in traced.operations if one.operation == "_grouped_mm") == 3


def test_a_complex_number_is_on_no_device():
    def step(x):
        (1j * x).exp().abs().sum().backward()

    traced = trace(step, (torch.ones(3, requires_grad=True),), train=False)
    assert traced.untraced == ()
    assert not any("complex128" in one.dtypes for one in traced.operations)


def test_an_inverse_fourier_transform_of_short_times_is_traced_whole():
    def step(x):
        window = torch.hann_window(64)
        return torch.istft(torch.stft(x, 64, window=window, return_complex=True), 64, window=window).exp()

    traced = trace(step, (torch.ones(1, 640),), train=False)
    assert traced.untraced == ()
    assert "exp" in named(traced)


# --- Mixed precision --------------------------------------------------------------------------------


def test_each_operation_that_mps_casts_for_has_a_policy():
    named = mixed_precision.LOWER | mixed_precision.PROMOTED
    assert named - set(mixed_precision.listed()) <= {"conv3d", "conv_transpose3d.input"}  # not in 2.8
    assert not mixed_precision.LOWER & mixed_precision.PROMOTED


@pytest.mark.parametrize("device", ["mps", "cuda", "cpu"])
def test_mixed_precision_has_the_list_of_mps(device):
    def step(x):
        with torch.autocast(device):
            product = x @ x
            return product.exp(), F.layer_norm(product, (4,)), torch.where(x > 0, x, product)

    traced = trace(step, (torch.ones(4, 4),), train=False)
    assert dtypes(traced, "mm") == [{"float16"}]
    assert dtypes(traced, "exp") == [{"float32"}]  # in float16 on a CPU
    assert dtypes(traced, "native_layer_norm") == [{"float32"}]


def test_one_operation_of_mps_is_cast_as_a_whole():
    layer, lstm = nn.Linear(4, 4), nn.LSTM(4, 4)

    def step(x):
        with torch.autocast("mps", dtype=torch.bfloat16):
            lstm(layer(x).float())[0].sum().backward()

    traced = trace(step, (torch.ones(3, 4, 4),), train=False)
    assert dtypes(traced, "linear") == dtypes(traced, "linear_backward") == [{"bfloat16"}]
    assert dtypes(traced, "_lstm_mps") == [{"float32"}]


def test_mixed_precision_outside_a_trace_is_as_it_was():
    def step(x):
        with torch.autocast("mps"):
            return (x @ x).exp()

    trace(step, (torch.ones(4, 4),), train=False)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert (torch.ones(4, 4) @ torch.ones(4, 4)).exp().dtype is torch.bfloat16
        assert torch.is_autocast_enabled("cpu")
    assert not torch.is_autocast_enabled("cpu")


# --- Optimizers -------------------------------------------------------------------------------------


def test_a_scaler_leads_to_the_optimizer():
    model = nn.Linear(4, 2)
    optimizer, scaler = torch.optim.Adam(model.parameters()), torch.amp.GradScaler("mps")

    def step(x):
        with torch.autocast("mps"):
            loss = model(x).sum()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    traced = trace(step, (torch.ones(3, 4),), train=False)
    assert traced.untraced == ()
    assert {"_amp_foreach_non_finite_check_and_unscale_", "addcdiv_"} <= named(traced)


def test_an_optimizer_that_waits_for_a_value_goes_on():
    model = nn.Linear(4, 1)
    optimizer = torch.optim.LBFGS(model.parameters(), line_search_fn="strong_wolfe")

    def step(x):
        def closure():
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            return loss

        optimizer.step(closure)

    traced = trace(step, (torch.ones(3, 4),), train=False)
    assert traced.untraced == ()
    assert {"dot", "mul.Tensor", "sub.Tensor"} <= named(traced, phase="optimizer")


def test_an_optimizer_of_another_name_is_traced_and_left_as_it_was():
    class Mine(torch.optim.SGD):
        __module__ = "torch.optim"

    model = nn.Linear(4, 1)
    optimizer = Mine(model.parameters(), 0.1)

    def step(x):
        model(x).sum().backward()
        optimizer.step()

    assert "add_.Tensor" in named(trace(step, (torch.ones(3, 4),), train=False), phase="optimizer")
    assert optimizer.param_groups[0]["params"][0] is model.weight
    assert model.weight.grad is None
