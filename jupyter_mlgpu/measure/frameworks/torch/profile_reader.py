"""Conversion of PyTorch's profile (Kineto's events) to events.

Left out is what `key_averages()` leaves out: the profiler's own functions, three that only inspect a tensor,
and a call that is all that a call of the same name does (one overload calls another). Ranges that begin on
one thread and end on another have no line; they are left out and counted. A device's plane holds kernels,
copies and memory-sets. Ranges that Kineto copies there from the host, and waits, are not the device's work.
With shapes, the type of an operation is that of its first array.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from jupyter_mlgpu.measure.ops import work
from jupyter_mlgpu.measure.ops.events import Event, Kind, ProfileEvents, first_events
from jupyter_mlgpu.measure.ops.selftime import by_line, parents
from jupyter_mlgpu.record.sentence import say_count

# The same as torch.autograd.profiler_util._filter_name (PyTorch 2.13).
_NO_OPERATIONS = frozenset(
    {
        "[memory]",
        "[OutOfMemory]",
        "profiler::_record_function_enter",
        "profiler::_record_function_enter_new",
        "profiler::_record_function_exit",
        "aten::is_leaf",
        "aten::output_nr",
        "aten::_version",
    }
)
#: PyTorch's names of number types, as its profiler writes them (verified on 2.13).
_TYPES = {"float": "float32", "double": "float64", "c10::Half": "float16", "c10::BFloat16": "bfloat16"}
_BYTES = re.compile(r'"bytes":\s*(\d+)')
_DEVICE_KINDS: dict[str, Kind] = {"kernel": "kernel", "gpu_memcpy": "copy", "gpu_memset": "memset"}


@dataclass(slots=True)
class KinetoEvents:
    """Events, and the number of ranges that were left out because they ended on another thread."""

    events: Iterator[Event]
    across_threads: int = 0


def read(found: KinetoEvents) -> ProfileEvents:
    """Return the events of `from_kineto` or `from_public` without repeats."""
    events, left_out, _ = first_events(found.events)
    once = tuple(one for line in by_line(events).values() for one in _without_repeats(line))
    note = say_count(
        "{count} range that began and ended on different threads is not in the table.",
        "{count} ranges that began and ended on different threads are not in the table.",
        found.across_threads,
    )
    return ProfileEvents(once, left_out, (note,) if found.across_threads else ())


def from_kineto(events: Sequence[Any], *, tf32: Collection[str] = ()) -> KinetoEvents:
    """Convert `kineto_results.events()`; `tf32` contains `products` or `convolutions` if they use tf32."""
    found = KinetoEvents(iter(()))
    found.events = _kineto(events, found, tf32)
    return found


def from_public(events: Sequence[Any]) -> KinetoEvents:
    """Convert `torch.profiler.profile.events()`, whose times begin at 0 and whose copies have no bytes."""
    found = KinetoEvents(iter(()))
    found.events = _public(events, found)
    return found


def _public(events: Sequence[Any], found: KinetoEvents) -> Iterator[Event]:
    for event in events:
        start = round(event.time_range.start * 1000)
        length = round(event.time_range.end * 1000) - start
        if str(event.device_type.name) != "CPU":
            if not getattr(event, "is_user_annotation", False):
                kind = _kind_by_name(event.name)
                stream = f"stream {getattr(event, 'device_resource_id', event.thread)}"
                device = f"gpu:{event.device_index}"
                yield Event(event.name, kind, "device", device, stream, start, length, kind=kind)
        elif event.is_async:
            found.across_threads += 1
        else:
            kind_of_range = "annotation" if getattr(event, "is_user_annotation", False) else ""
            name = event.name
            yield Event(
                name,
                kind_of_range or name.removeprefix("aten::"),
                "host",
                "host",
                f"thread {event.thread}",
                start,
                length,
                shapes=_shapes(event.input_shapes or []),
                flops=event.flops or None,
            )


def _kineto(events: Sequence[Any], found: KinetoEvents, tf32: Collection[str]) -> Iterator[Event]:
    threads = _threads(events)
    for event in events:  # each value is a call into PyTorch, so none is read twice
        name = event.name()
        if name in _NO_OPERATIONS or _hidden(event):
            continue
        if not _on_host(event):
            kind = _device_kind(event, name)
            if kind is not None:
                yield _device_event(event, name, kind)
            continue
        thread = event.start_thread_id()
        if event.is_async() or thread != event.end_thread_id():
            found.across_threads += 1
            continue
        linked = event.linked_correlation_id()
        if name.startswith("ProfilerStep#"):
            name = "ProfilerStep*"
        type_, sizes = _type(event, name, linked), event.shapes()
        number_type = _number_type(event, type_, tf32) if sizes else None
        yield Event(
            name,
            type_,
            "host",
            "host",
            f"thread {threads.get(linked, thread) if linked else thread}",
            event.start_ns(),
            event.duration_ns(),
            shapes=_shapes(sizes),
            flops=event.flops() or None,
            moved=work.moved(type_, sizes, number_type) if sizes else None,
            number_type=number_type,
        )


def _number_type(event: Any, kind: str, tf32: Collection[str]) -> str | None:
    dtypes = getattr(event, "dtypes", None)  # missing in older PyTorch
    found = next((_TYPES[one] for one in dtypes() if one in _TYPES), None) if dtypes else None
    group = "products" if kind in work.PRODUCTS else "convolutions" if "conv" in kind else ""
    return "tf32" if found == "float32" and group in tf32 else found


def _threads(found: Sequence[Any]) -> dict[int, int]:
    """Return the thread of each operation that called the driver, by correlation id.

    The driver's calls (cudaLaunchKernel) do not have PyTorch's number of their thread; the operation that
    made the call does.
    """
    if not any(event.linked_correlation_id() for event in found):
        return {}
    return {
        event.correlation_id(): event.start_thread_id()
        for event in found
        if event.linked_correlation_id() == 0 and _on_host(event)
    }


def _device_event(event: Any, name: str, kind: Kind) -> Event:
    return Event(
        name,
        kind,
        "device",
        f"gpu:{event.device_index()}",
        f"stream {event.device_resource_id()}",
        event.start_ns(),
        event.duration_ns(),
        kind=kind,
        bytes=_copied_bytes(event) if kind == "copy" else None,
    )


def _copied_bytes(event: Any) -> int | None:
    metadata = getattr(event, "metadata_json", None)  # missing in older PyTorch
    found = _BYTES.search(metadata()) if metadata else None
    return int(found[1]) if found else None


def _without_repeats(line: Sequence[Event]) -> Iterator[Event]:
    """Yield the events of one line, except those that only repeat the call they are in."""
    if line[0].plane == "device":
        yield from line
        return
    outer = parents([(event.start_ns, event.end_ns) for event in line])
    inside = Counter(outer)
    for event, parent in zip(line, outer, strict=True):
        if parent is None or line[parent].name != event.name or inside[parent] > 1:
            yield event


def _on_host(event: Any) -> bool:
    return str(event.device_type().name) == "CPU"


def _hidden(event: Any) -> bool:
    hidden = getattr(event, "is_hidden_event", None)
    return bool(hidden and hidden())


def _device_kind(event: Any, name: str) -> Kind | None:
    activity = getattr(event, "activity_type", None)
    if activity is not None:
        return _DEVICE_KINDS.get(activity())
    # Older PyTorch has no activity types, but names that tell them.
    return None if event.is_user_annotation() else _kind_by_name(name)


def _kind_by_name(name: str) -> Kind:
    return "copy" if name.startswith("Memcpy") else "memset" if name.startswith("Memset") else "kernel"


def _type(event: Any, name: str, linked: int) -> str:
    """Return `mm` for `aten::mm`, `annotation` for a range of the user, `runtime` for a driver call."""
    if event.is_user_annotation():
        return "annotation"
    if linked and name.startswith(("cuda", "hip")):
        return "runtime"
    return str(name.removeprefix("aten::"))


def _shapes(shapes: list[Any]) -> str | None:
    """Return `16x3x16x16, 8x3x3x3` for the inputs that are tensors."""
    sizes = [one for one in shapes if one]
    if not sizes:
        return None
    return ", ".join("x".join(str(size) for size in one) for one in sizes)
