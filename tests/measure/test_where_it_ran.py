"""What proves where a cell ran, and the sentences on what ran elsewhere, with frameworks faked."""

import json
import sys
import threading
from collections import Counter
from importlib.resources import files
from types import ModuleType, SimpleNamespace

import jsonschema
import pytest
from msgspec.structs import replace

from jupyter_mlgpu.measure.frameworks.base import Observed
from jupyter_mlgpu.measure.frameworks.tensorflow import calls as tensorflow_calls
from jupyter_mlgpu.measure.frameworks.tensorflow.calls import GraphCalls
from jupyter_mlgpu.measure.frameworks.tensorflow.graphs import GraphParts
from jupyter_mlgpu.measure.frameworks.tensorflow.notes import (
    copy_notes,
    placement_notes,
    unobserved_notes,
    unprepared_notes,
)
from jupyter_mlgpu.measure.frameworks.tensorflow.unobserved_work import UnobservedWork
from jupyter_mlgpu.measure.frameworks.torch.backend import TorchBackend
from jupyter_mlgpu.measure.recorder import Recorder, new_run
from jupyter_mlgpu.record.record import DeviceUse, RanOn, Record
from jupyter_mlgpu.show.receipts import head
from jupyter_mlgpu.testing import FakeBackend, FakeClock, example_record
from jupyter_mlgpu.testing.cuda import FakeCuda

SCHEMA = json.loads(files("jupyter_mlgpu").joinpath("record/record.schema.json").read_text())
CPU_0 = "/job:localhost/replica:0/task:0/device:CPU:0"
GPU_0 = "/job:localhost/replica:0/task:0/device:GPU:0"


class Cuda(FakeCuda):
    """PyTorch's CUDA side: a GPU whose allocator counts, used or not."""

    def __init__(self, gpus: int, *, started: bool) -> None:
        super().__init__()
        self.gpus = gpus
        self.started = started

    def device_count(self):
        return self.gpus

    def is_initialized(self):
        return self.started


class FakeTorch:
    """As much of PyTorch as its backend's observation asks for; `nodes` are those of its autograd."""

    def __init__(self, monkeypatch, gpus=0, *, started=False) -> None:
        self.nodes = 0
        self.cuda = Cuda(gpus, started=started)
        never = SimpleNamespace(is_available=lambda: False)
        module = ModuleType("torch")
        vars(module).update(
            cuda=self.cuda,
            version=SimpleNamespace(hip=None),
            backends=SimpleNamespace(mps=never),
            _C=SimpleNamespace(
                _autograd=SimpleNamespace(_get_sequence_nr=lambda: self.nodes),
                _cuda_memoryStats=self.cuda.memory_stats_as_nested_dict,
                _cuda_resetPeakMemoryStats=self.cuda.reset_peak_memory_stats,
            ),
        )
        monkeypatch.setitem(sys.modules, "torch", module)


def observed(work=lambda: None) -> Observed:
    observation = TorchBackend().observe()
    work()
    return observation.finish()


def test_without_a_gpu_a_cell_that_did_nothing_is_only_bounded(monkeypatch):
    FakeTorch(monkeypatch)
    seen = observed()
    assert (seen.ran_on, seen.only) == (None, "cpu:0")
    assert seen.why_missing == "If PyTorch ran anything, it ran on cpu:0."


def test_without_a_gpu_a_cell_that_worked_ran_on_the_cpu(monkeypatch):
    torch = FakeTorch(monkeypatch)

    def work():
        torch.nodes += 3

    (entry,) = observed(work).ran_on
    assert (entry.device, entry.evidence, entry.operations) == ("cpu:0", "only device", None)
    assert "not counted" in entry.why_missing


def test_a_gpu_without_a_context_cannot_have_run_anything(monkeypatch):
    FakeTorch(monkeypatch, gpus=1, started=False)
    assert observed().only == "cpu:0"


def test_a_gpu_whose_allocator_gave_out_memory_was_used(monkeypatch):
    torch = FakeTorch(monkeypatch, gpus=1, started=True)

    def work():
        torch.cuda.give(412)

    (entry,) = observed(work).ran_on
    assert (entry.device, entry.kind, entry.evidence) == ("gpu:0", "cuda", "allocator")
    assert "allocated here 412 times" in entry.why_missing
    assert "elsewhere" in entry.why_missing


def test_a_gpu_in_use_whose_allocator_gave_out_nothing_is_neither_claimed_nor_ruled_out(monkeypatch):
    FakeTorch(monkeypatch, gpus=1, started=True)
    seen = observed()
    assert (seen.ran_on, seen.only) == (None, None)
    assert "Allocations on gpu:0: 0." in seen.why_missing


def test_what_a_graph_works_in_counts_in_the_peak_of_its_replays(monkeypatch):
    cuda = FakeTorch(monkeypatch, gpus=1, started=True).cuda
    cuda.give(500)
    backend = TorchBackend()
    recording = backend.observe()
    cuda.record_graph(5_200, pool=(1, 0))
    recorded, replayed = recording.finish(), backend.observe().finish()
    assert [one.value for one in (*recorded.readings, *replayed.readings)] == [5_700, 5_700]
    assert cuda.max_memory_allocated(0) == 500
    assert replayed.readings[0].instrument.endswith("plus what CUDA graphs keep")
    assert recorded.notes[0].startswith("This cell set memory aside for a CUDA graph")
    assert replayed.notes == ()


def test_where_it_is_not_known_what_graphs_keep_there_is_no_peak_and_the_reason(monkeypatch):
    cuda = FakeTorch(monkeypatch, gpus=1, started=True).cuda
    cuda.broken = RuntimeError("mempool_id must be a tuple of 2 integers")
    cuda.give(500)
    (reading,) = observed().readings
    assert reading.value is None
    assert reading.why_missing == "It is not known how much GPU memory CUDA graphs keep (RuntimeError)."
    cuda.broken = None
    assert observed().readings[0].value == 500


def test_an_accelerator_that_this_package_does_not_know_leaves_the_place_open(monkeypatch):
    FakeTorch(monkeypatch)
    found = SimpleNamespace(current_accelerator=lambda: SimpleNamespace(type="xpu"))
    monkeypatch.setattr(sys.modules["torch"], "accelerator", found, raising=False)
    seen = observed()
    assert (seen.ran_on, seen.only) == (None, None)
    assert "does not report where" in seen.why_missing


class Told(FakeBackend):
    """A framework whose observation says what you want."""

    def __init__(self, name: str, told: Observed) -> None:
        super().__init__(name)
        self._told = told

    def observe(self):
        return SimpleNamespace(finish=lambda: self._told)


def record_of(*told: tuple[str, Observed], asked: str | None = None) -> Record:
    backends = [Told(name, one) for name, one in told]
    recorder = Recorder(
        new_run(None), clock=FakeClock(), probes=(), backends=lambda: backends, versions={"python": "3"}
    )
    return recorder.start("x").stop(requested={"*": asked} if asked else {}, notes=["said before"])


BOUNDED = Observed(None, "If PyTorch ran anything, it ran on cpu:0.", only="cpu:0")
UNKNOWN = Observed(None, "JAX does not report where its programs ran.")
NOTHING = Observed((), None)
USED = Observed((RanOn("torch", "gpu:0", "cuda", "cuda:0", None, None, "Not counted.", "allocator"),), None)
COUNTED = Observed((RanOn("tensorflow", "cpu:0", "cpu", CPU_0, 3, 1.0, None, "counted"),), None)


def test_a_cell_of_a_framework_with_one_device_says_so_without_claiming_that_it_worked():
    record = record_of(("torch", BOUNDED))
    assert record.device.ran_on is None
    assert head.where(record) == "PyTorch: cpu:0 only"


def test_one_framework_that_ran_nothing_says_nothing_of_another_that_is_not_watched():
    assert record_of(("tensorflow", NOTHING), ("torch", BOUNDED)).device.ran_on is None
    assert head.where(record_of(("tensorflow", NOTHING), ("jax", UNKNOWN))) == "device not known"
    assert head.where(record_of(("tensorflow", NOTHING))) == "no framework operations seen"


def test_bounds_are_kept_only_where_every_framework_that_is_not_watched_has_one():
    assert record_of(("torch", BOUNDED), ("jax", UNKNOWN)).device.only == {}
    assert record_of(("torch", BOUNDED), ("tensorflow", COUNTED)).device.only == {"torch": "cpu:0"}


def test_a_device_is_said_to_be_used_where_more_may_have_run_elsewhere():
    assert head.where(record_of(("torch", USED))) == "used gpu:0"
    assert head.where(record_of(("torch", USED), ("tensorflow", COUNTED))) == "ran on cpu:0, used gpu:0"


def test_what_was_asked_for_and_did_not_happen_is_said():
    assert head.where(record_of(("torch", USED), asked="cpu:0")) == "asked for cpu:0, used gpu:0"
    bounded = record_of(("torch", BOUNDED), asked="gpu:0")
    assert head.where(bounded) == "asked for gpu:0, PyTorch: cpu:0 only"
    assert head.where(record_of(("torch", BOUNDED), asked="cpu:0")) == "PyTorch: cpu:0 only"
    assert head.where(record_of(("torch", USED), asked="gpu:0")) == "used gpu:0"


def test_the_notes_of_an_observation_follow_those_of_the_cell():
    noted = replace(COUNTED, notes=("1 of 3 operations ran on cpu:0.",))
    assert record_of(("tensorflow", noted)).notes == ("said before", "1 of 3 operations ran on cpu:0.")


def test_evidence_and_bounds_survive_being_written_and_read_and_follow_the_schema():
    for record in (record_of(("torch", USED)), record_of(("torch", BOUNDED))):
        data = json.loads(json.dumps(record.to_json()))
        jsonschema.validate(data, SCHEMA)
        assert Record.from_json(data) == record


def test_a_record_from_before_evidence_was_told_still_loads():
    data = json.loads(json.dumps(example_record().to_json()))
    del data["device"]["only"]
    del data["device"]["ran_on"][0]["evidence"]
    jsonschema.validate(data, SCHEMA)
    loaded = Record.from_json(data)
    assert loaded.device == DeviceUse(
        {"*": "cpu:0"},
        tuple(replace(one, evidence=None) for one in example_record().device.ran_on),
    )
    assert head.where(loaded) == "ran on cpu:0"


def test_operations_that_ran_elsewhere_are_named_by_type_the_most_frequent_first():
    counts = {
        (GPU_0, GPU_0, "MatMul"): 328,
        (GPU_0, CPU_0, "Unique"): 6,
        (GPU_0, CPU_0, "Einsum"): 4,
        (GPU_0, CPU_0, "Where"): 2,
    }
    assert placement_notes(counts, complete=True) == [
        "12 of 340 operations ran on cpu:0, not on gpu:0: Unique 6, Einsum 4, Where 2."
    ]
    (part,) = placement_notes(counts, complete=False)
    assert part.startswith("12 of 340 observed operations ran on cpu:0")


def test_more_types_than_are_named_are_counted():
    counts = {(GPU_0, CPU_0, f"Type{number}"): 10 - number for number in range(8)}
    (said,) = placement_notes(counts, complete=True)
    assert said.endswith("Type0 10, Type1 9, Type2 8, Type3 7, Type4 6 and 3 more types.")


@pytest.mark.parametrize(
    "operation", ["ReadVariableOp", "ResourceApplyAdam", "IteratorGetNext", "OptionalFromValue", "Switch"]
)
def test_what_goes_where_its_variable_or_data_is_was_not_put_elsewhere(operation):
    assert placement_notes({(GPU_0, CPU_0, operation): 3, (GPU_0, GPU_0, "MatMul"): 1}, complete=True) == []


def test_where_no_device_was_set_nothing_ran_elsewhere():
    for nothing in ("", None, "/job:localhost/replica:0/task:0", "/job:localhost/device:GPU:*"):
        assert placement_notes({(nothing, CPU_0, "Unique"): 1}, complete=True) == []


def test_variables_that_graphs_copied_are_counted_by_call_and_way():
    step = GraphParts(Counter(), Counter({(CPU_0, GPU_0): 14, (GPU_0, CPU_0): 7}))
    once = GraphParts(Counter(), Counter({(CPU_0, GPU_0): 1}))
    assert copy_notes([("__inference_init_3", 1, once), ("__inference_train_step_42", 32, step)]) == [
        (
            "Variable values copied between devices in each of 32 calls to train_step: 14 from "
            "cpu:0 to gpu:0 and 7 from gpu:0 to cpu:0. Other graphs copied 1 more."
        )
    ]
    assert copy_notes([("__inference_init_3", 1, GraphParts(Counter()))]) == []


def test_what_nobody_watches_is_said():
    assert unobserved_notes(other_threads=False, sessions=False) == []
    threads, sessions = unobserved_notes(other_threads=True, sessions=True)
    assert threads.startswith("Other threads used TensorFlow")
    assert sessions.startswith("A tf.compat.v1.Session was used")


def test_graphs_that_were_prepared_unseen_are_named_and_their_place_is_known_with_one_device():
    assert unprepared_notes([], one_device=False) == []
    graphs = ["__inference_step_42", "__inference_step_7", "__inference_init_3"]
    (place,) = unprepared_notes(graphs, one_device=False)
    assert place.startswith("It is not known where the operations of init, step ran")
    (count,) = unprepared_notes(graphs, one_device=True)
    assert count.startswith("It is not known how many operations of init, step ran")


class FakeGraphs:
    """Runs the calls that it may learn from, and names them; `devices`: over how many graphs are cut up."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, str | None]] = []
        self.begun: set[object] = set()
        self.devices = 2

    def may_change(self):
        return self.devices > 1

    def begin(self, who):
        self.begun.add(who)

    def end(self, who, call, outputs, seconds, *, failed):
        if who in self.begun:
            self.ran.append(call)

    def parts(self, call):
        return call if call in self.ran else None


def _calls_of(monkeypatch, device="cpu:0"):
    """Calls counted over a context that answers to nothing else, and the graphs that may be learned from."""
    context = SimpleNamespace(
        call_function=lambda name, *rest: ["out"], _thread_local_data=SimpleNamespace(device_name=device)
    )
    monkeypatch.setattr(tensorflow_calls, "eager_context", lambda: context)
    graphs = FakeGraphs()
    calls = GraphCalls(graphs)
    calls.count()
    return context, calls, graphs


def test_calls_are_counted_by_graph_and_device_and_the_first_of_each_is_learned_from(monkeypatch):
    context, calls, graphs = _calls_of(monkeypatch)
    for name in (b"step", b"step", b"other"):
        assert context.call_function(name, [], 1) == ["out"]
    assert graphs.ran == [("step", "cpu:0"), ("other", "cpu:0")]
    assert calls.take() == {("step", "cpu:0"): 2, ("other", "cpu:0"): 1}
    context.call_function(b"step", [], 1)
    assert graphs.ran[2:] == [("step", "cpu:0")]
    assert calls.take() == {("step", "cpu:0"): 1}
    calls.leave()
    assert calls.take() == {}


def test_with_one_device_a_known_graph_is_not_learned_again(monkeypatch):
    context, calls, graphs = _calls_of(monkeypatch)
    graphs.devices = 1
    for _ in range(2):
        context.call_function(b"step", [], 1)
        assert calls.take() == {("step", "cpu:0"): 1}
    assert graphs.ran == [("step", "cpu:0")]


def test_a_call_that_raises_is_not_counted(monkeypatch):
    context, calls, _ = _calls_of(monkeypatch)
    calls.leave()
    calls.release()

    def fail(name, *rest):
        raise ValueError("of the user's own")

    context.call_function = fail
    calls.count()
    for _ in range(2):
        with pytest.raises(ValueError, match="of the user's own"):
            context.call_function(b"step", [], 1)
    assert calls.take() == {}


def test_of_a_thread_that_does_not_count_the_first_call_of_each_graph_is_learned_from(monkeypatch):
    context, calls, graphs = _calls_of(monkeypatch)
    context.call_function(b"here")

    def work():
        context.call_function(b"there")
        context.call_function(b"there")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert calls.take() == {("here", "cpu:0"): 1}
    assert graphs.ran == [("here", "cpu:0"), ("there", "cpu:0")]


def test_graphs_called_between_two_cells_are_learned_from_until_tracing_rests(monkeypatch):
    context, calls, graphs = _calls_of(monkeypatch)
    calls.leave()
    context.call_function(b"between")
    calls.release()
    context.call_function(b"afterwards")
    assert graphs.ran == [("between", "cpu:0")]


def test_whoever_counts_goes_on_counting_when_tracing_rests(monkeypatch):
    context, calls, graphs = _calls_of(monkeypatch)
    calls.release()
    context.call_function(b"step")
    assert calls.take() == {("step", "cpu:0"): 1}
    calls.leave()
    context.call_function(b"afterwards")
    assert graphs.ran == [("step", "cpu:0")]


def _in_a_thread(run):
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


def test_operations_are_heard_from_other_threads_alone_and_nothing_is_left_behind():
    operations, sessions = ModuleType("operations"), ModuleType("sessions")
    operations.TFE_Py_Execute = lambda: "ran"
    unobserved = UnobservedWork(lambda: (operations, sessions))
    unobserved.begin()
    assert (operations.TFE_Py_Execute(), unobserved.other_threads) == ("ran", 0)
    _in_a_thread(lambda: operations.TFE_Py_Execute())
    assert unobserved.other_threads == 1
    unobserved.end()
    _in_a_thread(lambda: operations.TFE_Py_Execute())
    assert (type(operations), type(sessions), unobserved.other_threads) == (ModuleType, ModuleType, 1)


def test_steps_of_sessions_are_heard_from_every_thread():
    operations, sessions = ModuleType("operations"), ModuleType("sessions")
    sessions.TF_SessionRun_wrapper = lambda: "ran"
    unobserved = UnobservedWork(lambda: (operations, sessions))
    unobserved.begin()
    assert (sessions.TF_SessionRun_wrapper(), unobserved.steps) == ("ran", 1)
    _in_a_thread(lambda: sessions.TF_SessionRun_wrapper())
    assert unobserved.steps == 2
    unobserved.end()


def test_a_function_that_is_heard_may_be_replaced_by_the_users_own():
    operations = ModuleType("operations")
    operations.TFE_Py_Execute = lambda: "ran"
    unobserved = UnobservedWork(lambda: (operations, ModuleType("sessions")))
    unobserved.begin()
    operations.TFE_Py_Execute = lambda: "the user's own"
    assert operations.TFE_Py_Execute() == "the user's own"
    unobserved.end()
    assert operations.TFE_Py_Execute() == "the user's own"
