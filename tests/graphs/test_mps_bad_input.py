"""What cannot be planned for MPS, or only in part, is said in one sentence, and the user's objects stay."""

from __future__ import annotations

import pytest

import jupyter_mlgpu
from jupyter_mlgpu.record.errors import PlanError
from jupyter_mlgpu.show.mps.headline import headline
from tests.support.later import Later

pytestmark = pytest.mark.needs("torch")

numpy, torch, nn = Later("numpy"), Later("torch"), Later("torch.nn")


def plan(*given):
    return jupyter_mlgpu.plan(*given, target="mps")


def batches(x):
    yield x @ x


async def awaited(x):
    return x @ x


def named(kind, module):
    return type(kind, (), {"__module__": module, "__call__": lambda self, x: x})()


@pytest.mark.parametrize(
    ("subject", "words"),
    [
        (lambda: nn.Linear, "Linear is a class: plan an object of it, such as `Linear()`."),
        (lambda: batches, "batches is a generator function"),
        (lambda: awaited, "awaited is an async function"),
        (lambda: named("PjitFunction", "jaxlib.xla"), "PjitFunction is of JAX"),
        (lambda: named("Sequential", "keras.src.models"), "The target metal is for TensorFlow and Keras"),
        (lambda: torch.ones(3), "An object of type Tensor cannot be planned for mps"),
        (lambda: lambda x: None, "no operation of PyTorch was called"),
    ],
)
def test_what_is_no_subject_is_refused_with_what_to_give_instead(subject, words):
    with pytest.raises(PlanError) as refused:
        plan(subject(), torch.ones(2, 2))
    assert words in str(refused.value)


def test_a_data_loader_is_no_input():
    with pytest.raises(PlanError, match=r"batch = next\(iter\(loader\)\)"):
        plan(nn.Linear(3, 3), torch.utils.data.DataLoader(torch.ones(4, 3)))


@pytest.mark.parametrize("wrong", ["hello", 7, None, [[1.0, 2.0, 3.0]]])
def test_an_input_that_is_no_tensor_is_told_with_the_error_of_the_module(wrong):
    with pytest.raises(PlanError, match=r"TypeError: .* must be Tensor, not .*Does it run with these inputs"):
        plan(nn.Linear(3, 3), wrong)


def test_an_error_before_the_first_operation_is_told_with_its_line():
    class Failing(nn.Module):
        def forward(self, x):
            raise ValueError("my own error")

    with pytest.raises(PlanError, match=r"line \d+ of test_mps_bad_input.py, .*: ValueError: my own error"):
        plan(Failing(), torch.ones(2, 2))


def test_a_step_that_exits_is_covered_up_to_there():
    def step(x):
        y = x.exp()
        raise SystemExit(y.shape[0])

    assert headline(plan(step, torch.ones(3))).startswith("The only operation in the traced part of")


def test_sparse_tensors_made_in_the_step_are_not_judged_by_the_list_for_dense_ones():
    forecast = plan(lambda x: torch.sparse.mm(x.to_sparse(), x), torch.ones(3, 3))
    assert {one.operation for one in forecast.of("unknown")} >= {"_sparse_addmm"}


def test_a_plan_with_a_stand_in_for_a_sparse_tensor_is_a_plan_of_a_part():
    forecast = plan(lambda x: x @ torch.ones(3, 3), torch.eye(3).to_sparse())
    assert "in the traced part of" in headline(forecast)


@pytest.mark.filterwarnings("ignore")
def test_what_compilers_and_several_gpus_add_is_left_out_and_said():
    assert "without `torch.compile`" in str(plan(torch.compile(nn.Linear(3, 3)), torch.ones(2, 3)))
    assert "one GPU, without DataParallel" in str(plan(nn.DataParallel(nn.Linear(3, 3)), torch.ones(2, 3)))


def test_a_y_that_fits_no_loss_is_told():
    forecast = plan(nn.Linear(3, 3), torch.ones(4, 3), torch.tensor([0, 1]))
    assert "the sum of all outputs (no usual loss fits y)" in str(forecast.assumptions)


def test_numpy_needs_a_copy_to_the_cpu_on_mps():
    forecast = plan(lambda x: x.exp().numpy(), torch.ones(3))
    assert "NumPy takes a tensor only after `.cpu()`" in str(forecast.assumptions)


def test_float64_is_named_as_the_reason_with_what_to_use():
    answer = headline(plan(nn.Linear(3, 3).double(), torch.ones(2, 3).double()))
    assert "`linear` (layer Linear) raises an error on the GPU, which has no float64: use float32" in answer


def test_the_users_objects_are_the_same_after_a_refusal():
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    before = [(one, one.clone(), one.grad) for one in model.parameters()]
    with pytest.raises(PlanError):
        plan(model, torch.ones(2, 5))
    plan(model, torch.ones(2, 3), torch.ones(2, 3))
    for (old, values, grad), new in zip(before, model.parameters(), strict=True):
        assert old is new
        assert torch.equal(new, values)
        assert new.grad is grad


@pytest.mark.parametrize(
    "made",
    [
        lambda array: torch.from_numpy(array).float().to("mps"),
        lambda array: torch.from_numpy(array).to(torch.float32),
        lambda array: torch.tensor(array).float().cuda(),
        lambda array: torch.as_tensor(array, dtype=torch.float32).to("mps"),
    ],
)
def test_numpys_numbers_may_be_turned_to_float32_on_the_cpu(made):
    model = nn.Linear(3, 3)
    forecast = plan(lambda array: model(made(array)), numpy.ones((2, 3)))
    assert (forecast.untraced, forecast.of("type")) == ((), ())


@pytest.mark.parametrize(
    "made",
    [
        lambda array: torch.from_numpy(array).to("mps").float(),
        lambda array: torch.tensor(array, device="mps").float(),
        lambda array: torch.as_tensor(array).cuda().float(),
        lambda array: torch.from_numpy(array).exp().float(),
    ],
)
def test_float64_on_the_gpu_is_refused(made):
    forecast = plan(lambda array: made(array), numpy.ones((2, 3)))
    assert forecast.of("type")
    assert "All tensors are taken to be on the GPU" in repr(forecast)


def test_a_loader_with_workers_is_gone_through_here():
    values = torch.utils.data.TensorDataset(torch.ones(6, 3), torch.ones(6, 3))
    loader = torch.utils.data.DataLoader(values, 2, num_workers=2, persistent_workers=True, timeout=5)
    model = nn.Linear(3, 3)

    def epoch():
        for x, y in loader:
            nn.functional.mse_loss(model(x), y).backward()

    forecast = plan(epoch)
    assert forecast.untraced == ()
    assert next(one.count for one in forecast.operations if one.operation == "linear") == 3
    assert (loader.num_workers, loader._iterator) == (2, None)


def test_no_checkpoint_is_written(tmp_path):
    model, file = nn.Linear(3, 3), tmp_path / "model.pt"
    torch.save(model.state_dict(), file)
    before = file.read_bytes()

    def step(x):
        torch.save(model.state_dict(), file)
        return model(x)

    assert plan(step, torch.ones(2, 3)).untraced == ()
    assert file.read_bytes() == before


def test_a_long_loop_ends_the_trace_when_it_brings_nothing_new(monkeypatch):
    monkeypatch.setattr("jupyter_mlgpu.graphs.mps.operation_recording.MOST_REPEATED", 50)

    def train(x):
        for _ in range(1000):
            x = x + 1
        return x.exp()

    forecast = plan(train, torch.ones(3))
    assert "in a loop that is long or ends by a value" in str(forecast.untraced)
    assert [one.operation for one in forecast.operations] == ["add.Tensor"]


def test_what_a_data_loader_does_stays_on_the_cpu():
    class Numbers(torch.utils.data.Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, at):
            return torch.from_numpy(numpy.ones(3)).float(), torch.linalg.eigvals(torch.ones(2, 2)).abs()

    loader, model = torch.utils.data.DataLoader(Numbers(), 2, shuffle=True), nn.Linear(3, 2)

    def epoch():
        for x, y in loader:
            nn.functional.mse_loss(model(x), y).backward()

    forecast = plan(epoch)
    assert (forecast.untraced, forecast.assumptions) == ((), ())
    assert (forecast.of("type"), forecast.of("missing")) == ((), ())
    assert next(one.count for one in forecast.operations if one.operation == "linear") == 2
