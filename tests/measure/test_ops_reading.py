"""Profiles of TensorFlow, PyTorch and JAX, made by hand, read as events."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from jupyter_mlgpu.measure.frameworks.jax import profile_reader as read_jax
from jupyter_mlgpu.measure.frameworks.tensorflow import profile_reader as read_tensorflow
from jupyter_mlgpu.measure.frameworks.torch import profile_reader as read_torch
from jupyter_mlgpu.measure.ops import xspace
from jupyter_mlgpu.measure.ops.planes import copied_bytes, device_of, is_stream, kind_of, rounded_ns


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("model/dense/MatMul:MatMul", ("model/dense/MatMul", "MatMul")),
        ("while/body/_1/add:AddV2", ("while/body/_1/add", "AddV2")),
        ("matmul:_MklMatMul", ("matmul", "_MklMatMul")),
        ("EagerLocalExecute: MatMul", ("MatMul (eager)", "MatMul")),
        ("Iterator::Root::Prefetch", ("Iterator::Root::Prefetch", "Dataset")),
        ("EagerLocalExecute: __inference_f_68", None),
        ("ExecutorState::Process", None),
        ("ThreadpoolListener::Record", None),
        ("KernelAndDeviceFunc::Run", None),
        ("MemoryAllocation", None),
        ("EagerKernelExecute", None),
        ("f", None),
    ],
)
def test_operations_are_told_from_the_executors_bookkeeping(name, found):
    assert read_tensorflow.operation(name) == found


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("MemcpyH2D", "copy"),
        ("Memcpy DtoH (Device -> Pageable)", "copy"),
        ("Memset", "memset"),
        ("ampere_sgemm_128x64_nn", "kernel"),
    ],
)
def test_device_events_are_kernels_copies_or_memory_sets(name, kind):
    assert kind_of(name) == kind


def test_names_of_planes_and_lines():
    assert device_of("/device:GPU:1") == "gpu:1"
    assert device_of("/host:CPU") is None
    assert is_stream("Stream #13(Compute)")
    assert not is_stream("XLA Ops")
    assert copied_bytes("kind_src:pageable kind_dst:device size:4096 dest:0 async:1") == 4096
    assert copied_bytes("nothing") is None


def test_rounding_to_nanoseconds_keeps_what_was_nested_nested():
    outer_start, outer_length = rounded_ns(1_499, 3_002)
    inner_start, inner_length = rounded_ns(1_501, 2_998)
    assert outer_start <= inner_start
    assert inner_start + inner_length <= outer_start + outer_length


@dataclass
class Meta:
    name: str


@dataclass
class Stat:
    metadata_id: int
    uint64_value: int = 0
    str_value: str = ""
    ref_value: int = 0

    def WhichOneof(self, _group: str) -> str:  # noqa: N802 - as protocol buffers name it
        return "ref_value" if self.ref_value else "str_value"


@dataclass
class XEvent:
    metadata_id: int
    offset_ps: int
    duration_ps: int
    stats: list[Stat] = field(default_factory=list)


@dataclass
class XLine:
    name: str
    events: list[XEvent]
    id: int = 1
    timestamp_ns: int = 0


@dataclass
class XPlane:
    name: str
    lines: list[XLine] = field(default_factory=list)
    event_metadata: dict[int, Meta] = field(default_factory=dict)
    stat_metadata: dict[int, Meta] = field(default_factory=dict)
    stats: list[Stat] = field(default_factory=list)


def space(*planes: XPlane) -> SimpleNamespace:
    return SimpleNamespace(planes=list(planes), errors=["a tracer was late"])


def test_tensorflows_host_and_device_are_read_apart_on_one_clock():
    found = read_tensorflow.read(
        space(
            XPlane(
                "/host:CPU",
                [XLine("tf_Compute", [XEvent(1, 2_000, 5_000), XEvent(2, 0, 9_000)], 77, 10)],
                {1: Meta("add:AddV2"), 2: Meta("ExecutorState::Process")},
            ),
            XPlane(
                "/device:GPU:0",
                [
                    XLine(
                        "Stream #7(Compute)",
                        [XEvent(1, 0, 4_000), XEvent(2, 0, 1_000, [Stat(9, ref_value=8)])],
                    ),
                    XLine("TensorFlow Ops", [XEvent(1, 0, 4_000)]),
                ],
                {1: Meta("gemm"), 2: Meta("MemcpyD2H")},
                {9: Meta("memcpy_details"), 8: Meta("kind_src:device size:64 async:0")},
            ),
            XPlane("Task Environment", stat_metadata={1: Meta("profile_start_time")}, stats=[Stat(1, 1_000)]),
        ),
    )
    seen = [
        (one.name, one.plane, one.device, one.start_ns, one.duration_ns, one.bytes) for one in found.events
    ]
    assert seen == [
        ("add", "host", "host", 1_012, 5, None),
        ("gemm", "device", "gpu:0", 1_000, 4, None),
        ("MemcpyD2H", "device", "gpu:0", 1_000, 1, 64),
    ]
    assert found.events[0].line == "tf_Compute 77"
    assert found.problems == ("TensorFlow's profiler reported: a tracer was late",)
    assert found.left_out == 0


def jax_event(name: str, start: float, duration: float, **stats: object) -> SimpleNamespace:
    return SimpleNamespace(name=name, start_ns=start, duration_ns=duration, stats=list(stats.items()))


def test_jaxs_compiled_operations_and_kernels_are_read_and_its_dispatching_is_not():
    line = SimpleNamespace
    found = read_jax.read(
        SimpleNamespace(
            planes=[
                SimpleNamespace(
                    name="/host:CPU",
                    lines=[
                        line(
                            name="python",
                            events=[
                                jax_event("PjitFunction(f)", 0, 900),
                                jax_event("dot.3", 10, 50, hlo_op="dot.3", hlo_module="jit_f"),
                                jax_event("end: dot.3", 60, 1),
                            ],
                        )
                    ],
                ),
                SimpleNamespace(
                    name="/device:GPU:0",
                    lines=[
                        line(
                            name="Stream #16(Compute)",
                            events=[
                                jax_event("gemm_kernel", 20, 5, hlo_op="dot.3"),
                                jax_event("MemcpyH2D", 30, 5, memcpy_details="size:12 async:1"),
                            ],
                        ),
                        line(name="XLA Ops", events=[jax_event("dot.3", 20, 5)]),
                    ],
                ),
                SimpleNamespace(name="Task Environment", lines=[], stats=[("profile_start_time", 100)]),
            ]
        ),
    )
    assert [(one.name, one.type, one.plane, one.start_ns, one.bytes) for one in found.events] == [
        ("jit_f/dot.3", "dot", "host", 110, None),
        ("gemm_kernel", "kernel", "device", 120, None),
        ("MemcpyH2D", "copy", "device", 130, 12),
    ]


class Kineto:
    """One of kineto's events: everything is a method there."""

    def __init__(self, name: str, start: int, duration: int, **told: object) -> None:
        values = {
            "name": name,
            "start_ns": start,
            "duration_ns": duration,
            "device_type": SimpleNamespace(name="CPU"),
            "device_index": 0,
            "device_resource_id": 7,
            "activity_type": "cpu_op",
            "start_thread_id": 1,
            "end_thread_id": told.get("start_thread_id", 1),
            "is_async": False,
            "is_user_annotation": False,
            "correlation_id": 0,
            "linked_correlation_id": 0,
            "shapes": [],
            "flops": 0,
            "metadata_json": "",
        } | told
        for key, value in values.items():
            setattr(self, key, lambda value=value: value)


def on_gpu(name: str, start: int, duration: int, activity: str, **told: object) -> Kineto:
    return Kineto(
        name, start, duration, device_type=SimpleNamespace(name="CUDA"), activity_type=activity, **told
    )


def test_pytorchs_operations_kernels_and_copies_are_read():
    found = read_torch.read(
        read_torch.from_kineto(
            [
                Kineto("aten::mm", 0, 90, shapes=[[2, 3], [3, 4], []], flops=48, correlation_id=5),
                Kineto("cudaLaunchKernel", 10, 5, start_thread_id=0, linked_correlation_id=5),
                Kineto("my range", 0, 95, is_user_annotation=True, activity_type="user_annotation"),
                on_gpu("gemm", 20, 30, "kernel"),
                on_gpu(
                    "Memcpy HtoD",
                    60,
                    5,
                    "gpu_memcpy",
                    metadata_json='"stream": 8, "bytes": 64',
                    device_resource_id=8,
                ),
                on_gpu("Memset", 70, 1, "gpu_memset"),
            ]
        ),
    )
    seen = [(one.name, one.type, one.plane, one.line, one.shapes, one.bytes) for one in found.events]
    assert seen == [
        ("aten::mm", "mm", "host", "thread 1", "2x3, 3x4", None),
        ("cudaLaunchKernel", "runtime", "host", "thread 1", None, None),
        ("my range", "annotation", "host", "thread 1", None, None),
        ("gemm", "kernel", "device", "stream 7", None, None),
        ("Memset", "memset", "device", "stream 7", None, None),
        ("Memcpy HtoD", "copy", "device", "stream 8", None, 64),
    ]
    assert found.events[0].flops == 48


def test_an_overload_that_hands_on_to_another_is_one_call():
    found = read_torch.read(
        read_torch.from_kineto(
            [
                Kineto("aten::div", 0, 90),
                Kineto("aten::div", 10, 60),
                Kineto("aten::to", 20, 10),
                Kineto("aten::add", 100, 90),
                Kineto("aten::add", 110, 20),
                Kineto("aten::add", 140, 20),
            ]
        ),
    )
    assert [(one.name, one.start_ns) for one in found.events] == [
        ("aten::div", 0),
        ("aten::to", 20),
        ("aten::add", 100),
        ("aten::add", 110),
        ("aten::add", 140),
    ]


def test_what_kineto_draws_on_the_device_but_no_work_of_it_is_left_out():
    found = read_torch.read(
        read_torch.from_kineto(
            [
                on_gpu("my range", 0, 900, "gpu_user_annotation"),
                on_gpu("Stream Wait Event", 0, 9, "cuda_sync"),
                Kineto("[memory]", 0, 0),
                Kineto("aten::is_leaf", 0, 1),
                Kineto("hidden", 0, 1, is_hidden_event=True),
            ]
        ),
    )
    assert found.events == ()


def test_a_range_between_two_threads_is_counted_and_left_out():
    found = read_torch.read(
        read_torch.from_kineto([Kineto("future", 0, 9, start_thread_id=1, end_thread_id=2)]),
    )
    assert found.events == ()
    assert found.problems[0].startswith("1 range ")


def varint(value: int) -> bytes:
    made = bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    return bytes([*made, value])


def message(number: int, body: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(body)) + body


def serialised(*lines: int) -> bytes:
    """An XSpace with lines of as many events; each event's number is its metadata_id."""
    made = b"".join(
        message(
            3,
            varint(1 << 3)
            + varint(number)
            + message(2, b"a line")
            + b"".join(message(4, varint(1 << 3) + varint(one)) for one in range(count)),
        )
        for number, count in enumerate(lines)
    )
    return message(1, message(2, b"/host:CPU") + made + message(4, b"metadata")) + message(2, b"an error")


def test_a_profile_within_the_limit_stays_as_it_is():
    data = serialised(5, 10)
    assert xspace.cut(data, limit=15, uncounted=0) == (data, 0)
    assert xspace.cut(data, limit=1, uncounted=len(data)) == (data, 0)


def test_a_profile_beyond_the_limit_keeps_the_same_part_of_every_line_from_its_beginning():
    assert xspace.cut(serialised(500, 1000), limit=30, uncounted=0) == (serialised(10, 20), 1470)


@pytest.mark.parametrize("lost", range(1, 60))
def test_bytes_that_end_too_early_are_refused(lost):
    line = message(3, b"".join(message(4, varint(1 << 3) + varint(300)) for _ in range(20)))
    plane = line[2:-lost]
    with pytest.raises(ValueError, match="the profile ends too early"):
        xspace.cut(message(1, line[:2] + plane), limit=1, uncounted=0)


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("(float[64,256];float[256,10];int32[])", "64x256, 256x10"),
        ("(float[7])", "7"),
        ("(int32[])", None),
        ("", None),
    ],
)
def test_tensorflows_input_shapes_are_those_of_inputs_that_are_no_scalars(told, shown):
    assert read_tensorflow.shapes(told) == shown
