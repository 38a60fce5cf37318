"""What every framework's profiler keeps to, with the framework; one not installed is left out by name."""

from __future__ import annotations

import functools
import importlib
import os
import shutil
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.tensorflow.profiler import has_shapes
from jupyter_mlgpu.measure.frameworks.torch import profile_reader as read_torch
from jupyter_mlgpu.measure.ops import work
from jupyter_mlgpu.measure.ops.busy import length, union
from jupyter_mlgpu.measure.ops.events import Profile
from jupyter_mlgpu.measure.ops.profiler import Refused
from jupyter_mlgpu.measure.ops.selftime import by_line, of_line
from jupyter_mlgpu.measure.ops.table import rows


@dataclass
class Subject:
    """A profiler, something to run, the operation to find, and the framework's own profiler as a block."""

    name: str
    operate: Callable[[], Any]
    operation: str
    own: Callable[[Path], AbstractContextManager[Any]]
    events_of: Callable[[Path, Any], int]  # how many events the user's own profiler has seen

    @property
    def profiler(self) -> Any:
        return registry.profiler(self.name)


def tensorflow() -> Subject:
    tf = framework("tensorflow")

    @tf.function
    @on_the_host
    def product(x: Any) -> Any:
        return tf.reduce_sum(tf.sin(x) @ x)

    x = on_the_host(tf.ones)((100, 100))

    def seen(folder: Path, _: Any) -> int:
        return sum(file.stat().st_size for file in folder.rglob("*.xplane.pb"))

    return Subject(
        "tensorflow",
        lambda: product(x).numpy(),
        "Sin",
        lambda folder: tf.profiler.experimental.Profile(str(folder)),
        seen,
    )


def torch() -> Subject:
    torch = framework("torch")
    activities = [torch.profiler.ProfilerActivity.CPU]
    x = torch.ones(100, 100)
    return Subject(
        "torch",
        lambda: (torch.sin(x) @ x).sum(),
        "aten::sin",
        lambda folder: torch.profiler.profile(activities=activities),
        lambda folder, own: len(own.events()),
    )


def jax() -> Subject:
    jax = framework("jax")
    product = jax.jit(lambda x: (jax.numpy.sin(x) @ x).sum())
    x = jax.device_put(jax.numpy.ones((100, 100)), jax.devices("cpu")[0])  # there it runs
    product(x).block_until_ready()
    return Subject(
        "jax",
        lambda: product(x).block_until_ready(),
        # What XLA makes of it on a CPU has another name since 0.11 (seen with 0.10.2 and 0.11.2).
        "sine" if jax.__version_info__ < (0, 11) else "ynn_fusion",
        lambda folder: jax.profiler.trace(str(folder)),
        lambda folder, _: sum(file.stat().st_size for file in folder.rglob("*.xplane.pb")),
    )


def on_the_host(work: Callable[..., Any]) -> Callable[..., Any]:
    """There TensorFlow's profiler sees every operation, whatever other device a machine has."""

    @functools.wraps(work)
    def placed(*arguments: Any) -> Any:
        with framework("tensorflow").device("CPU:0"):
            return work(*arguments)

    return placed


def framework(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a framework's own, while it is imported
        return importlib.import_module(name)


def parameter(make: Callable[[], Subject]) -> Any:
    return pytest.param(make, id=make.__name__, marks=pytest.mark.needs(make.__name__))


@pytest.fixture(scope="module", params=map(parameter, (tensorflow, torch, jax)))
def subject(request: pytest.FixtureRequest) -> Subject:
    made = request.param()
    made.operate()
    return made


@pytest.fixture
def own_temporary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Temporary files lie where no other process puts any."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def ours() -> list[str]:
    return sorted(name for name in os.listdir(tempfile.gettempdir()) if name.startswith("jupyter_mlgpu-"))


def names(profile: Any) -> Counter[str]:
    return Counter(event.name for event in profile.events)


def test_it_sees_the_operations_that_ran_while_it_was_on_and_no_others(subject):
    subject.operate()
    session = subject.profiler.start()
    for _ in range(3):
        subject.operate()
    profile = session.stop()
    subject.operate()
    found = [count for name, count in names(profile).items() if subject.operation in name]
    assert found == [3], sorted(names(profile))
    assert profile.complete
    assert profile.framework == subject.name


def test_self_times_sum_line_by_line_to_its_busy_time(subject):
    session = subject.profiler.start()
    for _ in range(5):
        subject.operate()
    profile = session.stop()
    lines = by_line(profile.events)
    assert lines
    for events in lines.values():
        assert sum(of_line(events)) == length(union((one.start_ns, one.end_ns) for one in events))


def test_events_lie_within_the_time_in_which_it_was_on(subject):
    session = subject.profiler.start()
    subject.operate()
    profile = session.stop()
    slack = 5_000_000  # two clocks are compared, to some microseconds as a rule
    assert profile.events
    assert min(one.start_ns for one in profile.events) >= profile.start_ns - slack
    assert max(one.end_ns for one in profile.events) <= profile.end_ns + slack


def test_it_can_be_turned_on_again_and_again_and_leaves_nothing_behind(subject, own_temporary):
    before = ours()
    for _ in range(3):
        session = subject.profiler.start()
        subject.operate()
        assert session.stop().events
    assert ours() == before


def test_given_up_it_is_off_and_leaves_nothing_behind(subject, own_temporary):
    before = ours()
    subject.profiler.start().abandon()
    assert ours() == before
    session = subject.profiler.start()
    subject.operate()
    assert session.stop().events


def test_it_steps_aside_where_the_user_has_one_running(subject, tmp_path):
    with subject.own(tmp_path) as own:
        refused = subject.profiler.start()
        subject.operate()
    assert isinstance(refused, Refused)
    assert refused.running
    assert subject.events_of(tmp_path, own) > 0
    session = subject.profiler.start()
    subject.operate()
    assert session.stop().events


def test_it_gives_way_where_the_cell_begins_one_of_its_own(subject, tmp_path):
    session = subject.profiler.start()
    subject.operate()
    with subject.own(tmp_path) as own:
        subject.operate()
    subject.operate()
    profile = session.stop()
    assert subject.events_of(tmp_path, own) > 0
    assert [count for name, count in names(profile).items() if subject.operation in name] == [1]
    assert not profile.complete
    assert "started its own profiler" in profile.problems[-1]


def test_what_it_replaced_while_it_was_on_is_put_back(subject):
    modules = {
        "tensorflow": ("tensorflow.python.profiler.profiler_v2", ["_pywrap_profiler"]),
        "torch": ("torch.autograd.profiler", ["_prepare_profiler", "_enable_profiler"]),
        "jax": ("jax._src.profiler", ["_profiler"]),
    }
    name, parts = modules[subject.name]
    module = importlib.import_module(name)
    before = [getattr(module, part) for part in parts]
    session = subject.profiler.start()
    assert [getattr(module, part) for part in parts] != before
    session.stop()
    assert [getattr(module, part) for part in parts] == before


@pytest.mark.needs("tensorflow")
def test_tensorflows_profile_that_cannot_be_written_is_lost_with_the_reason():
    framework("tensorflow")
    session = registry.profiler("tensorflow").start()
    (session._folder / "plugins").write_text("in the way of the folder that TensorFlow makes")
    with pytest.raises(Exception, match="plugins"):
        session.stop()
    assert not session._folder.exists()
    again = registry.profiler("tensorflow").start()
    assert not isinstance(again, Refused)
    again.abandon()


@pytest.mark.needs("tensorflow")
def test_without_a_temporary_folder_tensorflows_profile_is_refused(monkeypatch):
    framework("tensorflow")

    def full(**_: Any) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "mkdtemp", full)
    assert "No space left on device" in registry.profiler("tensorflow").start().reason


@pytest.mark.needs("tensorflow")
def test_tensorflow_on_a_mac_says_that_its_gpu_is_not_seen_and_what_helps(monkeypatch):
    framework("tensorflow")
    monkeypatch.setattr(
        "jupyter_mlgpu.measure.frameworks.tensorflow.profiler.kind_of", lambda device_type: "metal"
    )
    session = registry.profiler("tensorflow").start()
    (said,) = session.stop().problems
    assert "does not see a Mac's GPU" in said
    assert "Instruments" in said


@pytest.mark.needs("torch")
@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "set PYTORCH_MPS_LOG_PROFILE_INFO=391 before the kernel starts"),
        ("391", "is shown beside them"),
    ],
)
def test_pytorch_on_a_mac_says_that_its_gpu_is_not_seen_and_what_helps(monkeypatch, value, said):
    torch = framework("torch")
    monkeypatch.delenv("PYTORCH_MPS_LOG_PROFILE_INFO", raising=False)
    if value is not None:
        monkeypatch.setenv("PYTORCH_MPS_LOG_PROFILE_INFO", value)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    session = registry.profiler("torch").start()
    (problem,) = [one for one in session.stop().problems if "MPS" in one]
    assert problem.startswith(
        "PyTorch's profiler does not see a Mac's GPU (MPS), so its operations are from the host"
    )
    assert said in problem


def tensorflow_with_shapes() -> Any:
    """TensorFlow 2.19; the test is skipped with a newer one, which cannot be asked for shapes."""
    tf = framework("tensorflow")
    if not has_shapes():
        pytest.skip(f"TensorFlow {tf.__version__} cannot be asked for shapes, nor converts profiles as 2.19")
    return tf


@pytest.mark.needs("tensorflow")
def test_the_top_ten_of_a_tensorflow_function_is_that_of_framework_op_stats(tmp_path):
    tf = tensorflow_with_shapes()

    @tf.function
    @on_the_host
    def work(x: Any) -> Any:
        for _ in tf.range(4):
            x = tf.sin(x) @ x / 100.0
        return tf.linalg.svd(x)[0], tf.nn.softmax(x), tf.sort(x), tf.cumsum(x), tf.nn.relu(x) + 1.0

    x = on_the_host(tf.ones)((150, 150))
    work(x)
    session = registry.profiler("tensorflow").start()
    for _ in range(5):
        work(x)
    session.turn_off()
    (written,) = session._folder.rglob("*.xplane.pb")
    file = Path(shutil.copy(written, tmp_path))
    mine = rows(session.stop())
    theirs = framework_op_stats(file)
    assert len(theirs) >= 10
    assert [(row.name, row.type) for row in mine[:10]] == [(one.name, one.type) for one in theirs[:10]]
    for row, one in zip(mine[:10], theirs[:10], strict=True):
        assert row.self_time * 1e6 == pytest.approx(one.self_us, abs=0.05 + 0.001 * row.count)
        assert row.total_time * 1e6 == pytest.approx(one.total_us, abs=0.05 + 0.001 * row.count)


def framework_op_stats(file: Path) -> list[Any]:
    """TensorFlow's own table. Its format (tf_stats.proto) is read here by the numbers of its fields."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    from tensorflow.python.profiler.internal import _pywrap_profiler_plugin

    proto = descriptor_pb2.FieldDescriptorProto
    described = descriptor_pb2.FileDescriptorProto(name="part.proto", package="part", syntax="proto3")

    def message(name: str, *fields: tuple[str, int, int, str | None, int]) -> None:
        made = described.message_type.add(name=name)
        for field, number, kind, of, label in fields:
            made.field.add(name=field, number=number, type=kind, type_name=of, label=label)

    one, many = proto.LABEL_OPTIONAL, proto.LABEL_REPEATED
    message(
        "Record",
        ("type", 3, proto.TYPE_STRING, None, one),
        ("name", 4, proto.TYPE_STRING, None, one),
        ("total_us", 6, proto.TYPE_DOUBLE, None, one),
        ("self_us", 8, proto.TYPE_DOUBLE, None, one),
    )
    message("Table", ("records", 1, proto.TYPE_MESSAGE, ".part.Record", many))
    message("Database", ("without_idle", 5, proto.TYPE_MESSAGE, ".part.Table", one))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(described)
    data, told = _pywrap_profiler_plugin.xspace_to_tools_data([str(file)], "framework_op_stats", {})
    assert told
    database = message_factory.GetMessageClass(pool.FindMessageTypeByName("part.Database"))
    return list(database.FromString(data).without_idle.records)


@pytest.mark.needs("torch")
def test_the_top_ten_of_a_pytorch_training_step_is_that_of_key_averages():
    torch = framework("torch")
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8 * 14 * 14, 10)
    )
    optimizer = torch.optim.Adam(model.parameters())
    x = torch.randn(16, 3, 16, 16)

    def step() -> None:
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()

    step()
    session = registry.profiler("torch").start()
    profiler = session._ours
    for _ in range(5):
        step()
    mine = rows(session.stop())
    theirs = sorted(profiler.key_averages(), key=lambda one: -one.self_cpu_time_total)
    assert [row.name for row in mine[:10]] == [one.key for one in theirs[:10]]
    for row, one in zip(mine[:10], theirs[:10], strict=True):
        assert row.count == one.count
        assert row.self_time * 1e6 == pytest.approx(one.self_cpu_time_total, abs=0.05 + 0.001 * row.count)


@pytest.mark.needs("torch")
def test_pytorch_tells_shapes_and_flop_as_key_averages_does_where_they_are_asked_for():
    torch = framework("torch")
    x, y = torch.ones(20, 30), torch.ones(30, 40)
    torch.relu(x @ y)
    session = registry.profiler("torch").start(shapes=True)
    profiler = session._ours
    for _ in range(3):
        torch.relu(x @ y)
    profile = session.stop()
    mine = {row.name: row for row in rows(profile)}
    theirs = {one.key: one.flops for one in profiler.key_averages()}
    assert mine["aten::mm"].shapes == "20x30, 30x40"
    assert mine["aten::mm"].flops == theirs["aten::mm"] == 3 * 2 * 20 * 30 * 40
    assert mine["aten::relu"].flops is None  # PyTorch has formulas for products, convolutions and the like
    assert not [one for one in profile.problems if "not reported" in one]


@pytest.mark.needs("torch")
def test_without_being_asked_pytorch_records_no_shapes_and_says_why():
    torch = framework("torch")
    session = registry.profiler("torch").start()
    torch.ones(3) @ torch.ones(3)
    profile = session.stop()
    assert {(row.shapes, row.flops) for row in rows(profile)} == {(None, None)}
    (said,) = [one for one in profile.problems if "not reported" in one]
    assert "take twice as long" in said
    assert "%%mlc_trace --ops --shapes" in said


@pytest.mark.needs("tensorflow")
def test_tensorflow_tells_shapes_where_they_are_asked_for_of_the_same_operations_and_a_few_more():
    tf = tensorflow_with_shapes()

    @tf.function
    @on_the_host
    def work(x: Any, y: Any) -> Any:
        return tf.nn.relu(tf.matmul(x, y)) + 1.0

    x, y = on_the_host(tf.ones)((20, 30)), on_the_host(tf.ones)((30, 40))
    tables = {}
    work(x, y)
    for shapes in (False, True):
        session = registry.profiler("tensorflow").start(shapes=shapes)
        for _ in range(3):
            work(x, y)
        tables[shapes] = rows(session.stop())
    calls = [{row.name: row.count for row in table} for table in tables.values()]
    assert calls[0].items() <= calls[1].items()
    assert {row.type for row in tables[True] if row.name not in calls[0]} <= {"_Arg", "_Retval"}
    assert {row.shapes for row in tables[False]} == {None}
    assert [row.shapes for row in tables[True] if "MatMul" in row.type] == ["20x30, 30x40"]


@pytest.mark.needs("tensorflow")
def test_the_flop_of_a_keras_model_are_those_of_its_layers():
    tensorflow_with_shapes()
    keras, np = importlib.import_module("keras"), importlib.import_module("numpy")
    if keras.backend.backend() != "tensorflow":
        pytest.skip("Keras runs on another framework in this process")
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            layers.Conv2D(16, 3, activation="relu"),
            layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
            layers.DepthwiseConv2D(3),
            layers.Flatten(),
            layers.Dense(10, activation="softmax"),
        ]
    )
    by_layer = [
        2 * 26 * 26 * 16 * 3 * 3 * 1,
        2 * 13 * 13 * 32 * 3 * 3 * 16,
        2 * 11 * 11 * 32 * 3 * 3,
        2 * 11 * 11 * 32 * 10,
    ]
    model.compile("sgd", "sparse_categorical_crossentropy")
    images, labels = np.zeros((48, 28, 28, 1), "float32"), np.zeros(48, "int64")

    def flops(run):
        run()
        session = registry.profiler("tensorflow").start(shapes=True)
        run()
        return work.cell_work(session.stop()).flops

    assert flops(lambda: model.predict(images, batch_size=16, verbose=0)) == 48 * sum(by_layer)
    # Each layer has a gradient for its weights, and all but the first one for what they are given.
    training = 48 * (3 * sum(by_layer) - by_layer[0])
    assert flops(lambda: model.fit(images, labels, batch_size=16, verbose=0)) == training


def test_what_a_profiler_does_not_tell_of_what_was_asked_for_is_said(subject):
    session = subject.profiler.start(shapes=True)
    subject.operate()
    profile = session.stop()
    table = rows(profile)
    told = any(row.shapes for row in table), any(row.flops for row in table)
    says = {
        "torch": (),
        "tensorflow": ("input shapes of operations in graphs", "derived from the shapes"),
        "jax": ("does not report input shapes", "whole programs"),
    }[subject.name]
    tells = {"torch": (True, True), "tensorflow": (True, True), "jax": (False, False)}[subject.name]
    if subject.name == "tensorflow" and not has_shapes():
        tells, says = (False, False), ("cannot be asked for input shapes",)
    assert told == tells
    problems = " ".join(one for one in profile.problems if "does not see" not in one)
    assert all(one in problems for one in says)
    assert bool(problems) == bool(says)


@pytest.mark.needs("torch")
def test_pytorchs_public_events_give_the_same_table_as_kinetos():
    torch = framework("torch")
    x = torch.ones(50, 50, requires_grad=True)
    session = registry.profiler("torch").start()
    (torch.sin(x) @ x).sum().backward()
    session.turn_off()
    public = read_torch.from_public(session._ours.events())
    both = [session.stop(), Profile("torch", "PyTorch's profiler", read_torch.read(public).events, 0, 1)]
    tables = [
        {row.name: (row.count, row.plane, row.type, round(row.self_time * 1e6)) for row in rows(one)}
        for one in both
    ]
    assert tables[0] == tables[1]


@pytest.mark.needs("torch")
def test_pytorchs_profiler_prints_nothing_of_its_own(capfd):
    torch = framework("torch")
    session = registry.profiler("torch").start()
    torch.ones(3) + 1
    session.stop()
    assert "KINETO_LOG_LEVEL" not in os.environ
    assert capfd.readouterr() == ("", "")


def test_with_shapes_the_operations_of_a_product_are_counted_and_without_them_none(subject):
    subject.operate()
    profiles = []
    for shapes in (True, False):
        session = subject.profiler.start(shapes)
        for _ in range(3):
            subject.operate()
        profiles.append(session.stop())
    counted = work.cell_work(profiles[0])
    # A device that its profiler does not see may have had the product.
    if profiles[0].devices_unseen or (subject.name == "tensorflow" and not has_shapes()):
        assert counted is None
        return
    assert (counted.framework, counted.device, counted.number_type) == (subject.name, "cpu:0", "float32")
    products = 3 * 2 * 100**3
    # JAX tells those of the sine and of the sum, too: a number each, and the sine's own are not FLOP to XLA.
    assert products <= counted.flops <= 1.05 * products
    # Each product reads two arrays of 100 x 100 and writes one. Where the sine and the sum are in the same
    # operation, XLA counts only the array that it reads.
    arrays = 1 if subject.operation == "ynn_fusion" else 3
    assert counted.moved >= 3 * arrays * 4 * 100**2
    assert counted.large == 0
    assert work.cell_work(profiles[1]) is None
