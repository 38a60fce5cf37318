"""PyTorch's profile (kineto's events) as events.

Left out is what `key_averages()` leaves out: the profiler's own functions, three that only look at a tensor,
and a call that is all that a call of the same name does (one overload that hands on to another). Ranges that
begin on one thread and end on another have no line of their own; they are left out and counted. A device's
plane holds kernels, copies and memory-sets; ranges that kineto copies there from the host, and waits, are
not the device's work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from jupyter_mlgpu.ops.events import Event, Kind, Profile, kept, why_left_out
from jupyter_mlgpu.ops.selftime import by_line, parents

# As torch.autograd.profiler_util._filter_name has them (PyTorch 2.13).
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
_DEVICE_KINDS: dict[str, Kind] = {"kernel": "kernel", "gpu_memcpy": "copy", "gpu_memset": "memset"}


def read(
    found: Iterable[Any],
    *,
    profiler: str,
    window_ns: tuple[int, int],
    problems: tuple[str, ...] = (),
    whole: bool = True,
) -> Profile:
    """The profile in kineto's events (`kineto_results.events()`)."""
    all_events = [event for event in found if event.name() not in _NO_OPERATIONS and not _hidden(event)]
    wandering = sum(1 for event in all_events if _on_host(event) and _wanders(event))
    if wandering:
        problems = (
            *problems,
            f"{wandering:,} ranges that ended on another thread than they began are not in the table.",
        )
    events, more = kept(_events(all_events))
    events = tuple(one for line in by_line(events).values() for one in _once(line))
    return Profile("torch", profiler, events, *window_ns, more, why_left_out(more), problems, whole)


def _events(found: list[Any]) -> Iterator[Event]:
    # The driver's calls (cudaLaunchKernel) do not know PyTorch's number of their thread; the operation that
    # made the call does.
    threads = {
        event.correlation_id(): event.start_thread_id()
        for event in found
        if _on_host(event) and event.linked_correlation_id() == 0
    }
    for event in found:
        if not _on_host(event):
            kind = _device_kind(event)
            if kind is not None:
                yield Event(
                    event.name(),
                    kind,
                    "device",
                    f"gpu:{event.device_index()}",
                    f"stream {event.device_resource_id()}",
                    event.start_ns(),
                    event.duration_ns(),
                    kind=kind,
                    bytes=event.nbytes() or None if kind == "copy" else None,
                )
        elif not _wanders(event):
            linked = event.linked_correlation_id()
            thread = threads.get(linked, event.start_thread_id()) if linked else event.start_thread_id()
            name = event.name()
            if name.startswith("ProfilerStep#"):
                name = "ProfilerStep*"
            yield Event(
                name,
                _type(event, name),
                "host",
                "host",
                f"thread {thread}",
                event.start_ns(),
                event.duration_ns(),
                shapes=_shapes(event.shapes()),
                flops=event.flops() or None,
            )


def _once(line: Sequence[Event]) -> Iterator[Event]:
    """The events of one line without those that only repeat the call they are in."""
    if line[0].plane == "device":
        yield from line
        return
    outer = parents([(event.start_ns, event.end_ns) for event in line])
    inside = Counter(outer)
    for event, parent in zip(line, outer, strict=True):
        if parent is None or line[parent].name != event.name or inside[parent] > 1:
            yield event


def _on_host(event: Any) -> bool:
    return str(event.device_type()) == "DeviceType.CPU"


def _wanders(event: Any) -> bool:
    return bool(event.is_async()) or event.start_thread_id() != event.end_thread_id()


def _hidden(event: Any) -> bool:
    hidden = getattr(event, "is_hidden_event", None)
    return bool(hidden and hidden())


def _device_kind(event: Any) -> Kind | None:
    activity = getattr(event, "activity_type", None)
    if activity is not None:
        return _DEVICE_KINDS.get(activity())
    # Older PyTorch does not tell; its names do.
    if event.is_user_annotation():
        return None
    name = event.name()
    return "copy" if name.startswith("Memcpy") else "memset" if name.startswith("Memset") else "kernel"


def _type(event: Any, name: str) -> str:
    """`mm` for `aten::mm`; ranges of the user's are `annotation`, calls of the driver `runtime`."""
    if event.is_user_annotation():
        return "annotation"
    if name.startswith(("cuda", "hip")) and event.linked_correlation_id():
        return "runtime"
    return str(name.removeprefix("aten::"))


def _shapes(shapes: list[Any]) -> str | None:
    """`16x3x16x16, 8x3x3x3` for the inputs that are tensors."""
    told = [one for one in shapes if one]
    if not told:
        return None
    return ", ".join("x".join(str(size) for size in one) for one in told)
