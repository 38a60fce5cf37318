"""Tensors that cannot be compared are counted by operation, and what can be compared beside them is."""

import pytest

pytestmark = pytest.mark.needs("torch")


def checked(run):
    from jupyter_mlgpu.measure.checking.check_mode import checking

    with checking() as checker:
        run()
    return checker.result()


@pytest.mark.filterwarnings("ignore")  # PyTorch gives up its quantized tensors
def test_sparse_and_quantized_tensors_are_not_compared_and_named():
    import torch

    def run():
        sparse = torch.eye(3).to_sparse()
        sparse @ torch.ones(3, 3)
        torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8).dequantize()
        torch.ones(3).exp()

    result = checked(run)
    assert result.first == ()
    assert result.not_comparable
    assert all("(" not in name for name in result.not_comparable)
    assert result.checked >= 3


def test_tensors_of_no_elements_and_of_no_dimension_are_right():
    import torch

    def run():
        torch.empty(0, 3).sum(0)
        torch.zeros(0).exp()
        torch.tensor(3.0).max()
        torch.tensor(2.0).sort()
        torch.ones(2, 0) @ torch.ones(0, 3)
        torch.tensor([True, False]).any()

    result = checked(run)
    assert (result.first, dict(result.not_comparable)) == ((), {})


def test_a_result_on_the_meta_device_has_no_values():
    import torch

    result = checked(lambda: torch.ones(3, device="meta") + 1)
    assert result.first == ()


def test_a_wrong_shape_and_a_nan_are_wrong():
    import torch

    from jupyter_mlgpu.measure.checking.compare import compare

    exact = torch.ones(3, dtype=torch.float64)
    none = torch.zeros((), dtype=torch.float64)
    assert compare(torch.ones(2), exact, none).what == "shape"
    assert compare(torch.tensor([1, 1, torch.nan]), exact, none).what == "nan"
    assert compare(torch.tensor([1, torch.inf, 1]), exact, none).index == (1,)
    assert compare(torch.ones(3), exact * torch.nan, none).what == "finite"


def test_infinity_is_explained_by_a_range_that_ends_before():
    import torch

    from jupyter_mlgpu.measure.checking.compare import compare

    none = torch.zeros((), dtype=torch.float64)
    large = torch.tensor([70000.0], dtype=torch.float64)
    assert compare(torch.tensor([torch.inf], dtype=torch.float16), large, none) is None
    assert compare(torch.tensor([torch.inf]), large, none).what == "infinite"


def test_of_equal_values_any_place_is_right_and_a_place_of_another_value_is_not():
    import torch

    from jupyter_mlgpu.measure.checking.places import compare_places
    from jupyter_mlgpu.measure.checking.reference import take

    x = torch.tensor([1.0, 5.0, 5.0])
    call = take(torch.ops.aten.argmax.default, (x,), {}, widen=False)
    assert compare_places(call, [torch.tensor(2)], [torch.tensor(1)]) is None
    assert compare_places(call, [torch.tensor(0)], [torch.tensor(1)]).given == "1"


@pytest.mark.parametrize("part", ["kind_of", "take", "compare"])
def test_a_fault_of_the_check_leaves_the_run_alone_and_is_counted(monkeypatch, part):
    import torch

    from jupyter_mlgpu.measure.checking import check_mode

    def broken(*args, **kwargs):
        raise ZeroDivisionError

    monkeypatch.setattr(check_mode, part, broken)
    found = []
    result = checked(lambda: found.append(torch.ones(3).exp()))
    assert found[0].shape == (3,)
    assert [*result.not_comparable] == ["aten.ones (ZeroDivisionError)", "aten.exp (ZeroDivisionError)"]


def test_an_operation_without_a_kernel_on_the_cpu_is_compared_with_its_definition():
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class OfAnotherLibrary(TorchDispatchMode):
        """Computes `cudnn_batch_norm` with the CPU's own operation."""

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            if function is torch.ops.aten.cudnn_batch_norm.default:
                return (*torch.ops.aten.native_batch_norm(*args), args[0].new_zeros(0, dtype=torch.uint8))
            return function(*args, **(kwargs or {}))

    x, mean, spread = torch.randn(8, 3, 4, 4), torch.zeros(3), torch.ones(3)
    with OfAnotherLibrary():
        result = checked(
            lambda: torch.ops.aten.cudnn_batch_norm(x, spread, mean, mean, spread, True, 0.1, 1e-5)
        )
    assert (result.checked, result.first, result.not_comparable) == (1, (), {})
