"""Conversion of TensorFlow's profile (an XSpace) to events.

On the host's plane, an operation is an event named `name:Type`, which TensorFlow's executor writes around the
kernel of a graph's operation, or `EagerLocalExecute: Type`, an eager operation, which is named `Type (eager)`
here. Everything else is bookkeeping of the executor, the allocator and the thread pools, and is left out. So
is the eager call of a tf.function, whose operations have their own events. `Iterator::...` events are
tf.data's. This is the choice of TensorFlow's own table framework_op_stats, with the eager operations added.
Input shapes are present if the host's tracer was at level 3: `(float[64,256];int32[])`. FLOP are not. Those
of matrix products, and the bytes of element-wise operations, are computed from the shapes; those of
convolutions also need the graphs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jupyter_mlgpu.measure.frameworks.tensorflow import convolutions
from jupyter_mlgpu.measure.frameworks.tensorflow.convolutions import Convolutions, Moves, plain
from jupyter_mlgpu.measure.ops import planes, work
from jupyter_mlgpu.measure.ops.events import Event, ProfileEvents, first_events
from jupyter_mlgpu.record.sentence import say

_SHAPE = re.compile(r"(\w*)\[([\d,]*)\]")
#: TensorFlow's names of number types that differ from the common ones.
_TYPES = {"float": "float32", "double": "float64", "half": "float16", "bfloat16": "bfloat16"}
_EAGER = "EagerLocalExecute: "
_FUNCTIONS = ("__inference_", "__forward_", "__backward_")


def read(
    space: Any, *, tf32: bool = False, graphs: Mapping[str, Moves | None] | None = None
) -> ProfileEvents:
    """Return the events of a parsed `XSpace`.

    With `tf32`, products of float32 on a GPU were computed in tf32. `graphs` are the convolutions of the
    graphs that ran, by name.
    """
    problems = tuple(say("TensorFlow's profiler reported: {said}", said=one) for one in space.errors)
    on_gpu = any(planes.device_of(plane.name) for plane in space.planes)
    return first_events(_events(space, tf32 and on_gpu, graphs or {}))._replace(problems=problems)


def _events(space: Any, tf32: bool, graphs: Mapping[str, Moves | None]) -> Iterator[Event]:
    begin_ns = _begin_ns(space)
    for plane in space.planes:
        device = planes.device_of(plane.name)
        if device is not None:
            yield from _device_events(plane, device, begin_ns)
        elif plane.name == planes.HOST_PLANE:
            yield from _host_events(plane, begin_ns, tf32, graphs)


def _host_events(
    plane: Any, begin_ns: int, tf32: bool, graphs: Mapping[str, Moves | None]
) -> Iterator[Event]:
    named = {key: operation(meta.name) for key, meta in plane.event_metadata.items()}
    shape = next((key for key, meta in plane.stat_metadata.items() if meta.name == "shape"), None)
    known = Convolutions(graphs, _convolutions(plane, named, shape) if graphs else ())
    for line in plane.lines:
        # Several threads may have the same name; the number is the thread's.
        thread = f"{line.name} {line.id}"
        for event in line.events:
            found = named.get(event.metadata_id)
            if found is not None:
                inputs = _inputs(plane, event, shape)
                yield Event(
                    *found,
                    "host",
                    "host",
                    thread,
                    *_times(line, event, begin_ns),
                    **(derived_fields(*found, inputs, tf32, known) if inputs else {}),
                )


def _convolutions(
    plane: Any, named: Mapping[int, tuple[str, str] | None], shape: int | None
) -> Iterator[tuple[str, str, Sequence[Sequence[int]]]]:
    for line in plane.lines:
        for event in line.events:
            found = named.get(event.metadata_id)
            if found is not None and plain(found[1]) in convolutions.KINDS:
                yield *found, _sizes(_inputs(plane, event, shape))


def _inputs(plane: Any, event: Any, shape: int | None) -> str:
    return next((_text(plane, stat) for stat in event.stats if stat.metadata_id == shape), "")


def _device_events(plane: Any, device: str, begin_ns: int) -> Iterator[Event]:
    details = next((key for key, meta in plane.stat_metadata.items() if meta.name == "memcpy_details"), None)
    for line in plane.lines:
        if not planes.is_stream(line.name):
            continue
        for event in line.events:
            name = plane.event_metadata[event.metadata_id].name
            kind = planes.kind_of(name)
            size = None
            if kind == "copy":
                texts = (_text(plane, stat) for stat in event.stats if stat.metadata_id == details)
                size = next(map(planes.copied_bytes, texts), None)
            yield Event(
                name,
                kind,
                "device",
                device,
                line.name,
                *_times(line, event, begin_ns),
                kind=kind,
                bytes=size,
            )


def operation(name: str) -> tuple[str, str] | None:
    """Return name and type of the operation of a host event; None for bookkeeping.

    `model/dense/MatMul:MatMul` is a graph's operation, `EagerLocalExecute: MatMul` an eager one.
    """
    if name.startswith(_EAGER):
        kind = name.removeprefix(_EAGER)
        return None if kind.startswith(_FUNCTIONS) else (f"{kind} (eager)", kind)
    if name.startswith("Iterator::"):
        return name, "Dataset"
    path, colon, kind = name.rpartition(":")
    if not colon or not kind.isidentifier() or not path or path.endswith(":") or " " in path:
        return None
    return path, kind


def shapes(inputs: str) -> str | None:
    """Return `64x256, 256x10` for `(float[64,256];float[256,10];int32[])`, without the scalars."""
    found = [sizes.replace(",", "x") for _, sizes in _SHAPE.findall(inputs) if sizes]
    return ", ".join(found) or None


def derived_fields(
    path: str, kind: str, inputs: str, tf32: bool = False, known: Convolutions | None = None
) -> dict[str, Any]:
    """Return the fields of an `Event` that follow from an operation's input shapes."""
    full_kind, kind, sizes = kind, plain(kind), _sizes(inputs)
    number_type = next((_TYPES[one] for one, _ in _SHAPE.findall(inputs) if one in _TYPES), None)
    if tf32 and number_type == "float32" and (kind in work.PRODUCTS or kind in convolutions.KINDS):
        number_type = "tf32"
    flops = work.product_flops(kind, sizes)
    if kind in convolutions.KINDS and known is not None:
        flops = known.flops(path, full_kind, sizes)
    return {
        "shapes": shapes(inputs),
        "flops": flops if number_type else None,
        "moved": work.moved(kind, sizes, number_type),
        "number_type": number_type,
    }


def _sizes(inputs: str) -> list[list[int]]:
    return [[int(one) for one in found.split(",") if one] for _, found in _SHAPE.findall(inputs)]


def _begin_ns(space: Any) -> int:
    for plane in space.planes:
        if plane.name == planes.ENVIRONMENT_PLANE:
            for stat in plane.stats:
                if plane.stat_metadata[stat.metadata_id].name == planes.START_STAT:
                    return int(stat.uint64_value)
    return 0


def _times(line: Any, event: Any, begin_ns: int) -> tuple[int, int]:
    start, duration = planes.rounded_ns(line.timestamp_ns * 1000 + event.offset_ps, event.duration_ps)
    return begin_ns + start, duration


def _text(plane: Any, stat: Any) -> str:
    if stat.WhichOneof("value") == "ref_value":
        return str(plane.stat_metadata[stat.ref_value].name)
    return str(stat.str_value)
