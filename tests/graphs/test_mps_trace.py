"""Steps of PyTorch are traced to their operations, and nothing of the user's is changed."""

from __future__ import annotations

import functools
import random

import pytest

from jupyter_mlgpu.graphs.mps.trace import trace
from jupyter_mlgpu.record.errors import PlanError
from tests.support.later import Later

pytestmark = pytest.mark.needs("torch")
prototypes = pytest.mark.filterwarnings(
    "ignore::UserWarning", "ignore::DeprecationWarning", "ignore::FutureWarning"
)

torch, nn, F = Later("torch"), Later("torch.nn"), Later("torch.nn.functional")


def line_of(function, words):
    """The number of the line of this file, in a function, that has these words."""
    import inspect

    lines, first = inspect.getsourcelines(function)
    return first + next(at for at, line in enumerate(lines) if words in line)


def named(traced, *, phase=None):
    return {one.operation for one in traced.operations if phase in (None, one.phase)}


def lines(traced, operation):
    return {one.place.line for one in traced.operations if one.operation == operation}


def classifier():
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))


# --- What is found ----------------------------------------------------------------------------------


def test_a_training_step_has_its_forward_and_backward_pass_and_its_optimizer():
    traced = trace(classifier(), (torch.randn(5, 4), torch.tensor([0, 1, 0, 1, 0])), train=True)
    assert {"linear", "relu", "nll_loss_forward"} <= named(traced, phase="forward")
    assert {"linear_backward", "threshold_backward"} <= named(traced, phase="backward")
    assert {"addcdiv_", "lerp_.Scalar"} <= named(traced, phase="optimizer")
    assert traced.untraced == ()
    assert "cross entropy" in str(traced.assumptions)


def test_a_forward_pass_has_no_backward_pass():
    traced = trace(classifier(), (torch.randn(5, 4),), train=False)
    assert {one.phase for one in traced.operations} == {"forward"}
    assert [one.place.layer for one in traced.operations if one.operation == "linear"] == ["0", "2"]


def test_operations_have_number_types_ranks_and_counts():
    def step(x):
        return [x.sin() for _ in range(3)], x.double()

    traced = trace(step, (torch.ones(2, 3),), train=False)
    (sine,) = [one for one in traced.operations if one.operation == "sin"]
    assert (sine.count, sine.dtypes, sine.ranks) == (3, {"float32"}, {2})
    (cast,) = [one for one in traced.operations if one.operation == "_to_copy"]
    assert cast.dtypes == {"float32", "float64"}


def test_a_backward_operation_stands_at_the_line_of_its_forward_operation():
    def step(x):
        y = torch.linalg.svdvals(x)
        z = y.tanh()
        z.sum().backward()

    traced = trace(step, (torch.randn(3, 3, requires_grad=True),), train=False)
    assert lines(traced, "_linalg_svd") == {line_of(step, "svdvals")}
    assert lines(traced, "tanh_backward") == {line_of(step, "tanh")}


def test_composite_operations_of_linalg_are_opened():
    traced = trace(lambda x: torch.linalg.solve(x, x), (torch.eye(3),), train=False)
    assert "_linalg_solve_ex" in named(traced)
    inside = {one.operation: one.within for one in traced.operations}
    traced = trace(torch.linalg.pinv, (torch.eye(3),), train=False)
    inside |= {one.operation: one.within for one in traced.operations}
    assert any(within.startswith("linalg_") for within in inside.values()), inside


def test_a_singular_value_decomposition_is_known_by_its_caller():
    traced = trace(torch.linalg.svd, (torch.eye(3),), train=False)
    assert {one.operation: one.within for one in traced.operations} == {
        "linalg_svd": "",
        "_linalg_svd": "linalg_svd",
    }
    traced = trace(torch.linalg.svdvals, (torch.eye(3),), train=False)
    assert {one.operation: one.within for one in traced.operations} == {"_linalg_svd": ""}


def test_tolerances_of_linalg_are_not_float64_on_mps():
    traced = trace(torch.linalg.matrix_rank, (torch.eye(3),), train=False)
    assert not any("float64" in one.dtypes for one in traced.operations)
    traced = trace(torch.linalg.matrix_rank, (torch.eye(3).double(),), train=False)
    assert any("float64" in one.dtypes for one in traced.operations)


def test_an_lstm_is_one_operation_in_each_pass():
    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm, self.out = nn.LSTM(4, 8, 2), nn.Linear(8, 2)

        def forward(self, x):
            return self.out(self.lstm(x)[0][-1])

    traced = trace(Reader(), (torch.randn(6, 5, 4), torch.zeros(5, dtype=torch.long)), train=True)
    found = {one.operation: one for one in traced.operations}
    assert found["_lstm_mps"].place.layer == "lstm"
    assert found["lstm_mps_backward"].place == found["_lstm_mps"].place
    assert not {"sigmoid", "sigmoid_backward"} & set(found)


def models():
    """Models of PyTorch's own layers, with their input and target."""
    images, classes = torch.randn(2, 3, 16, 16), torch.tensor([0, 1])
    words = torch.randint(0, 20, (2, 7))
    cnn = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten())
    texts = nn.Sequential(nn.Embedding(20, 8), nn.TransformerEncoder(_encoder_layer(), 2), nn.Linear(8, 3))
    volumes = nn.Sequential(nn.Conv3d(1, 2, 3), nn.MaxPool3d(2), nn.AdaptiveAvgPool3d(1), nn.Flatten())
    return {
        "cnn": (cnn, images, torch.randn(2, 4 * 49)),
        "transformer": (texts, words, torch.randint(0, 3, (2, 7))),
        "bag": (nn.EmbeddingBag(20, 3, mode="max"), words, classes),
        "pooling of volumes": (volumes, torch.randn(2, 1, 9, 9, 9), classes),
        "group norm": (nn.Sequential(nn.GroupNorm(1, 3), nn.GELU()), images, images),
        "transposed convolution": (nn.ConvTranspose2d(3, 3, 3, padding=1), images, images),
    }


def _encoder_layer():
    return nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)


@pytest.mark.parametrize(
    "name",
    ["cnn", "transformer", "bag", "pooling of volumes", "group norm", "transposed convolution"],
)
def test_models_of_pytorchs_own_layers_are_traced_whole(name):
    model, x, y = models()[name]
    traced = trace(model, (x, y), train=True)
    assert traced.untraced == ()
    assert {one.phase for one in traced.operations} >= {"forward", "backward", "optimizer"}


def test_long_sequences_are_traced_for_few_steps():
    lstm, gru = nn.LSTM(4, 8, 2, batch_first=True, bidirectional=True), nn.GRU(16, 3)
    shapes = []

    def step(x):
        inner = lstm(x)[0]
        outer, state = gru(inner)
        shapes.extend([inner.shape, outer.shape, state.shape])
        assert (inner.shape, outer.shape) == ((2, 10_000, 16), (2, 10_000, 3)), shapes
        (outer.sum() + state.sum()).backward()

    x = torch.randn(2, 10_000, 4)
    traced = trace(step, (x,), train=False)
    assert traced.untraced == ()
    found = {one.operation: one.count for one in traced.operations}
    assert found["_lstm_mps"] == found["lstm_mps_backward"] == 1
    assert traced.assumptions == ()  # the GRU has two steps: its batch does not come first
    gru.batch_first = True
    assert "8 of its 10,000 steps" in str(trace(step, (x,), train=False).assumptions)


@pytest.mark.parametrize("kind", ["GRU", "RNN"])
def test_recurrent_layers_are_traced_whole(kind):
    layer = getattr(nn, kind)(4, 8, batch_first=True, bidirectional=True)
    traced = trace(lambda x: layer(x)[0].sum().backward(), (torch.randn(2, 5, 4),), train=False)
    assert traced.untraced == ()
    assert named(traced, phase="backward")


def test_a_bert_is_traced_whole_and_without_its_weights():
    from jupyter_mlgpu.measure.frameworks.models import Encoder
    from jupyter_mlgpu.measure.frameworks.torch.bert import bert

    with torch.device("meta"):  # weights without memory
        model = bert(8, Encoder(2, 12, 768))
    traced = trace(model, (torch.randint(0, 9, (8, 16)), torch.zeros(8, dtype=torch.long)), train=True)
    assert traced.untraced == ()
    assert "bmm" in named(traced)


# --- Whole steps of the user's own ------------------------------------------------------------------


def test_a_step_with_two_optimizers_is_traced_and_leaves_both_as_they_were():
    generator, critic = nn.Linear(3, 4), nn.Linear(4, 1)
    first = torch.optim.Adam(generator.parameters())
    second = torch.optim.SGD(critic.parameters(), 0.1, momentum=0.9)
    schedule = torch.optim.lr_scheduler.StepLR(first, 1)
    before = {name: one.clone() for name, one in generator.state_dict().items()}

    def step(x):
        fake = generator(torch.randn(len(x), 3))
        second.zero_grad()
        (critic(fake.detach()).mean() - critic(x).mean()).backward()
        second.step()
        first.zero_grad()
        (-critic(fake).mean()).backward()
        first.step()
        schedule.step()

    traced = trace(step, (torch.randn(5, 4),), train=False)
    assert traced.untraced == ()
    assert lines(traced, "addcdiv_") == {line_of(step, "first.step")}
    assert not first.state
    assert not second.state
    assert (schedule.last_epoch, first.param_groups[0]["lr"]) == (0, 1e-3)
    assert all(one.grad is None for one in (*generator.parameters(), *critic.parameters()))
    assert all(torch.equal(one, before[name]) for name, one in generator.state_dict().items())
    assert first.param_groups[0]["params"][0] is generator.weight


def test_an_optimizer_that_has_run_keeps_its_state():
    model = nn.Linear(3, 1)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(2, 3)).sum().backward()
    optimizer.step()
    grad, moment = model.weight.grad, optimizer.state[model.weight]["exp_avg"]
    values = grad.clone(), moment.clone()

    def step(x):
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()

    trace(step, (torch.ones(2, 3),), train=False)
    assert model.weight.grad is grad
    assert optimizer.state[model.weight]["exp_avg"] is moment
    assert torch.equal(grad, values[0])
    assert torch.equal(moment, values[1])


def test_weights_in_a_list_are_left_as_they_were():
    weight, bias = torch.randn(4, 2, requires_grad=True), torch.zeros(2, requires_grad=True)
    weights = [weight, bias]
    before = weight.detach().clone()

    def step(x):
        (x @ weight + bias).square().mean().backward()
        with torch.no_grad():
            for one in weights:
                one -= 0.1 * one.grad
                one.grad.zero_()

    traced = trace(step, (torch.randn(3, 4),), train=False)
    assert traced.untraced == ()
    assert weight.grad is None
    assert weights[0] is weight
    assert torch.equal(weight, before)


def test_a_module_stays_as_it_was():
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Dropout(0.5))
    model.eval()
    seen = []
    model.register_forward_hook(lambda *_: seen.append(1))
    state = {name: one.clone() for name, one in model.state_dict().items()}
    objects = {name: id(one) for name, one in model.state_dict(keep_vars=True).items()}
    hooks = dict(model._forward_hooks)
    trace(model, (torch.randn(2, 1, 8, 8), torch.randn(2, 2, 6, 6)), train=True)
    assert not any(one.training for one in model.modules())
    assert dict(model._forward_hooks) == hooks
    assert {name: id(one) for name, one in model.state_dict(keep_vars=True).items()} == objects
    assert all(torch.equal(one, state[name]) for name, one in model.state_dict().items())
    assert all(one.grad is None for one in model.parameters())


def test_a_random_state_stays_as_it_was():
    torch.manual_seed(3)
    expected = torch.rand(3)
    torch.manual_seed(3)
    random.seed(3)
    before = random.getstate()
    trace(lambda x: x + torch.rand(3) + random.random(), (torch.ones(3),), train=False)
    assert random.getstate() == before
    assert torch.equal(torch.rand(3), expected)


def test_a_module_stays_as_it_was_where_its_step_fails():
    model = nn.Sequential(nn.ReLU(), nn.Linear(3, 3))
    weight = model[1].weight
    traced = trace(model, (torch.ones(2, 4), torch.ones(2, 3)), train=True)
    assert len(traced.untraced) == 1
    assert model[1].weight is weight


def test_an_interrupted_trace_leaves_all_as_it_was():
    model = nn.Linear(3, 3)
    optimizer = torch.optim.Adam(model.parameters())
    weight = model.weight

    def step(x):
        model(x).sum().backward()
        optimizer.step()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trace(step, (torch.ones(2, 3),), train=False)
    assert model.weight is weight
    assert optimizer.param_groups[0]["params"][0] is weight
    assert weight.grad is None
    assert not optimizer.state
    assert type(model.weight + 1) is torch.Tensor


# --- What depends on values -------------------------------------------------------------------------


def test_a_branch_that_depends_on_a_value_is_told_with_its_line():
    def step(x):
        if x.sum() > 0:
            return x.sin()
        return x.cos()

    traced = trace(step, (torch.ones(3),), train=False)
    assert "sin" in named(traced)
    assert f"line {line_of(step, 'if x.sum')}" in str(traced.assumptions)


def test_a_check_that_would_raise_an_error_is_taken_as_passed():
    def step(x, labels):
        if labels.max() >= 4:
            raise ValueError("too many classes")
        if not (x > 0).all():
            raise ValueError("not positive")
        assert labels.min() < 0
        return x.exp()

    traced = trace(step, (torch.ones(3), torch.tensor([1, 2])), train=False)
    assert traced.untraced == ()
    assert "exp" in named(traced)
    assert f"line {line_of(step, 'labels.max')}" in str(traced.assumptions).replace("lines", "line")


def test_an_error_whatever_the_value_ends_the_trace():
    def step(x):
        raise ValueError(f"{x.sum().item()} is no sum")

    assert len(trace(step, (torch.ones(3),), train=False).untraced) == 1


def test_a_number_that_the_code_itself_made_is_known():
    def step(x):
        for _ in range(torch.tensor(3).item()):
            x = x.sin()
        return x

    traced = trace(step, (torch.ones(3),), train=False)
    assert sum(one.count for one in traced.operations if one.operation == "sin") == 3
    assert traced.assumptions == ()


def test_loops_that_wait_for_a_value_end():
    def step(x):
        while x.sum() > 1:
            x = x / 2
        while x.sum() < 1:
            x = x * 2
        while x.sum().item() > 0.5:
            x = x - 1
        return x.exp()

    traced = trace(step, (torch.ones(3),), train=False)
    assert {"div.Tensor", "mul.Tensor", "exp"} <= named(traced)
    assert traced.untraced == ()


def test_sizes_that_depend_on_values_are_told_and_the_rest_is_covered():
    def step(x):
        found = x[x > 0]
        return found.exp() if len(found) > 1 else found

    traced = trace(step, (torch.ones(3),), train=False)
    assert "exp" in named(traced)
    assert f"`index.Tensor`, line {line_of(step, 'found = ')}" in str(traced.assumptions)


def test_values_that_leave_pytorch_are_zeros_and_the_rest_is_covered():
    def step(x):
        mean = x.detach().numpy().mean()
        return [one + 1 for one in x.tolist()], (x - float(mean)).exp()

    traced = trace(step, (torch.ones(3),), train=False)
    assert "exp" in named(traced)
    assert "Values leave PyTorch" in str(traced.assumptions)


def test_the_value_of_a_loss_may_be_kept():
    losses = []

    def step(x):
        losses.append(x.mean().item())

    traced = trace(step, (torch.ones(3),), train=False)
    assert traced.untraced == ()
    assert losses == []


# --- What cannot be traced --------------------------------------------------------------------------


def test_an_error_ends_the_trace_and_what_came_before_it_is_covered():
    def step(x):
        y = x.exp()
        return y @ torch.ones(7, 7)

    traced = trace(step, (torch.ones(3, 3),), train=False)
    assert "exp" in named(traced)
    assert f"at line {line_of(step, '@')} of" in str(traced.untraced)
    assert len(traced.untraced) == 1


def test_without_any_operation_there_is_no_plan():
    with pytest.raises(PlanError, match="missing 1 required positional"):
        trace(lambda x, y: x + y, (torch.ones(3),), train=False)
    with pytest.raises(PlanError, match="no operation of PyTorch was called"):
        trace(lambda x: None, (torch.ones(3),), train=False)


@prototypes
def test_sparse_and_quantized_tensors_stand_as_dense_ones_and_are_told():
    traced = trace(lambda x: x @ torch.ones(3, 3), (torch.eye(3).to_sparse(),), train=False)
    assert "sparse_coo" in str(traced.untraced)
    quantized = torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.quint8)
    traced = trace(lambda x: x + 1, (quantized,), train=False)
    assert "quantized" in str(traced.untraced)


@prototypes
def test_nested_tensors_and_lazy_layers_are_refused_in_one_sentence():
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    with pytest.raises(PlanError, match="nested tensor has no single shape"):
        trace(lambda x: x + 1, (nested,), train=False)
    with pytest.raises(PlanError, match="run the model once"):
        trace(nn.LazyLinear(3), (torch.ones(2, 3),), train=False)


@prototypes
def test_compiled_modules_and_functions_are_traced_as_what_they_were_made_from():
    traced = trace(torch.compile(nn.Linear(3, 3)), (torch.ones(2, 3),), train=False)
    assert named(traced) == {"linear"}
    traced = trace(torch.compile(lambda x: x.sin()), (torch.ones(2, 3),), train=False)
    assert named(traced) == {"sin"}


@pytest.mark.parametrize("device", ["cuda", "cuda:1", "mps"])
def test_what_needs_a_gpu_to_be_built_is_traced_without_one(device):
    def step(x):
        model = nn.Linear(3, 3, device=device)
        target = torch.zeros(2, 3, device=torch.device(device))
        F.mse_loss(model(x.to(device)), target).backward()

    traced = trace(step, (torch.ones(2, 3),), train=False)
    assert traced.untraced == ()
    assert "linear_backward" in named(traced)


@pytest.mark.parametrize("device", ["cuda", "mps"])
def test_modules_that_are_moved_to_a_gpu_are_traced_and_left_where_they_were(device):
    model, layer = nn.Sequential(nn.LSTM(3, 3), nn.Flatten(0)), nn.Linear(3, 2).half()
    before = model[0].weight_ih_l0, layer.weight

    def step(x):
        model.to(device)
        layer.to(device).float()
        nn.Linear(3, 3).to(device)(x.to(device))
        layer(model[0](x)[0]).sum().backward()

    traced = trace(step, (torch.ones(2, 3),), train=False)
    assert traced.untraced == ()
    assert model[0].weight_ih_l0 is before[0]
    assert layer.weight is before[1]
    assert {one.dtypes for one in traced.operations if one.operation == "linear"} == {frozenset({"float32"})}


def test_a_default_device_that_is_not_here_does_not_matter():
    def step(x):
        with torch.device("mps"):
            return x + torch.ones(3)

    assert "add.Tensor" in named(trace(step, (torch.ones(3),), train=False))


def test_partial_functions_and_methods_are_traced_with_what_they_hold():
    class Trainer:
        def __init__(self):
            self.model = nn.Linear(3, 1)
            self.optimizer = torch.optim.SGD(self.model.parameters(), 0.1)
            self.steps = 0

        def step(self, x, scale=1):
            self.steps += 1
            self.optimizer.zero_grad()
            (self.model(x) * scale).sum().backward()
            self.optimizer.step()

    trainer = Trainer()
    before = trainer.model.weight.detach().clone()
    for one in (trainer.step, functools.partial(trainer.step, scale=2)):
        assert "optimizer" in {op.phase for op in trace(one, (torch.ones(2, 3),), train=False).operations}
    assert torch.equal(trainer.model.weight, before)
    assert trainer.model.weight.grad is None
    assert trainer.steps == 0


def test_transforms_of_functions_are_traced():
    gradient = torch.func.grad(lambda x: x.sin().sum())
    assert "cos" in named(trace(lambda x: gradient(x), (torch.ones(3),), train=False))
    assert "sin" in named(trace(torch.vmap(torch.sin), (torch.ones(3, 2),), train=False))


def test_mixed_precision_is_that_of_a_gpu():
    layer = nn.Conv1d(4, 2, 1)

    def step(x):
        with torch.autocast("mps"):
            return layer(x)

    traced = trace(step, (torch.ones(3, 4, 5),), train=False)
    assert [one.dtypes for one in traced.operations if one.operation == "convolution"] == [{"float16"}]


def test_calls_that_wait_for_a_gpu_or_ask_for_its_memory_do_not_matter():
    before = torch.mps.synchronize, torch.cuda.synchronize

    def step(x):
        torch.mps.synchronize()
        torch.cuda.synchronize()
        torch.mps.empty_cache()
        return x + torch.mps.current_allocated_memory()

    assert trace(step, (torch.ones(3),), train=False).untraced == ()
    assert (torch.mps.synchronize, torch.cuda.synchronize) == before


def test_an_epoch_over_a_loader_is_traced():
    dataset = torch.utils.data.TensorDataset(torch.randn(64, 4), torch.zeros(64, dtype=torch.long))
    loader = torch.utils.data.DataLoader(dataset, batch_size=16, shuffle=True)
    model = nn.Linear(4, 2)

    def epoch():
        for x, y in loader:
            F.cross_entropy(model(x), y).backward()

    traced = trace(epoch, (), train=False)
    assert traced.untraced == ()
    assert next(one.count for one in traced.operations if one.operation == "linear") == 4
    assert type(dataset.tensors[0]) is torch.Tensor


@prototypes
def test_scripted_modules_are_traced_and_left_as_they_were():
    model = torch.jit.script(nn.Sequential(nn.Linear(4, 2), nn.ReLU()))
    before = [one.detach().clone() for one in model.parameters()]
    traced = trace(model, (torch.randn(3, 4), torch.randn(3, 2)), train=True)
    assert traced.untraced == ()
    assert {one.phase for one in traced.operations} == {"forward", "backward", "optimizer"}
    assert all(torch.equal(one, was) for one, was in zip(model.parameters(), before, strict=True))
    assert all(one.grad is None for one in model.parameters())


# --- Held to a real run -----------------------------------------------------------------------------


def real_operations(step, *given):
    """The operations of a real run on the CPU, in both passes, and how often each came."""
    from collections import Counter

    from torch.utils._python_dispatch import TorchDispatchMode

    counts = Counter()

    class Count(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            if function.namespace != "aten":  # PyTorch's profiler
                return function(*args, **(kwargs or {}))
            overload = function._schema.overload_name
            name = function._schema.name.removeprefix("aten::")
            counts[f"{name}.{overload}" if overload else name] += 1
            return function(*args, **(kwargs or {}))

    with Count(), torch.backends.mkldnn.flags(enabled=False):
        step(*given)
    return counts


#: Views that PyTorch makes of fake tensors, or of real ones, alone.
VIEWS = {"detach", "alias", "lift_fresh", "clone", "_unsafe_view", "view", "_to_copy", "copy_"}


@prototypes
def test_a_trace_has_the_operations_of_a_real_run():
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.GELU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Softmax(1)
    )
    optimizer = torch.optim.Adam(model.parameters())

    def step(x):
        optimizer.zero_grad()
        (model(x).log() * torch.fft.fft(x.flatten(1))[:, :16].abs()).cumsum(1).mean().backward()
        optimizer.step()

    x = torch.rand(3, 1, 9, 9)
    traced = trace(step, (x,), train=False)
    found = {}
    for one in traced.operations:
        found[one.operation] = found.get(one.operation, 0) + one.count
    real = real_operations(step, x)
    assert {name: found.get(name, 0) for name in real if name not in VIEWS} == {
        name: count for name, count in real.items() if name not in VIEWS
    }
    assert set(found) - set(real) <= VIEWS
