"""The devices on which TensorFlow's operations ran, observed at a low cost.

An operation callback (private; verified on 2.19.1) reports the device of each eager operation, `calls.py` the
graphs that are called, and `graphs.py` the operations of each graph.

The callback costs about 5 us per operation, so it is removed after `LIMIT` eager operations of one cell; the
record then says that only those were observed. Graphs are counted to the end. Both cover only the thread in
which they were added; `unobserved_work.py` detects the work of other threads and sessions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from jupyter_mlgpu.measure.frameworks.tensorflow.calls import GraphCalls
from jupyter_mlgpu.measure.frameworks.tensorflow.context import eager_context
from jupyter_mlgpu.measure.frameworks.tensorflow.graphs import Call, GraphCollection, GraphParts
from jupyter_mlgpu.measure.frameworks.tensorflow.names import kind_of, short_name
from jupyter_mlgpu.measure.frameworks.tensorflow.notes import (
    Placed,
    copy_notes,
    placement_notes,
    unobserved_notes,
    unprepared_notes,
)
from jupyter_mlgpu.measure.frameworks.tensorflow.unobserved_work import UnobservedWork
from jupyter_mlgpu.record.record import Evidence, RanOn
from jupyter_mlgpu.record.sentence import Sentence, joined, say

#: Eager operations observed in one cell, which cost at most about 2 ms.
LIMIT = 400

#: Evidence that there is no other device (see `RanOn`).
_ONLY: Evidence = "only device"


@dataclass(slots=True)
class Mark:
    """The values of the counters when a cell began."""

    counts: Counter[Placed]
    calls: Counter[Call]
    other_threads: int
    steps: int
    outermost: bool


@dataclass(frozen=True, slots=True)
class OperationPlacement:
    """The devices, most operations first (None if unknown), why something is unknown, and notes."""

    ran_on: tuple[RanOn, ...] | None
    why: Sentence | None
    notes: tuple[Sentence, ...] = ()


class PlacementCounter:
    """The operations of one thread by device, counted while at least one of its cells is observed."""

    def __init__(self, graphs: GraphCollection, calls: GraphCalls, unobserved: UnobservedWork) -> None:
        self._graphs = graphs
        self._graph_calls = calls
        self._unobserved = unobserved
        self._counts: Counter[Placed] = Counter()
        self._calls: Counter[Call] = Counter()
        self._eager = 0
        self._cells = 0
        self._truncated = False
        self._failure: str | None = None
        self._context: Any = None

    def start(self) -> Mark:
        """Begin a cell; cells may be nested."""
        outermost = self._cells == 0
        self._cells += 1
        if outermost:
            self._counts.clear()
            self._calls.clear()
            self._eager = 0
            self._truncated = False
            self._failure = None
            try:
                self._context = eager_context()
                self._graphs.failure = None
                self._graphs.share()
                self._graph_calls.count()
                self._unobserved.begin()
                self._add_callback()
            except Exception as error:
                self._failure = f"{type(error).__name__}: {error}"
        # Taking the calls makes the next call of each graph a first one, which is examined.
        self._calls += self._graph_calls.take()
        counts, calls = Counter(self._counts), Counter(self._calls)
        return Mark(counts, calls, self._unobserved.other_threads, self._unobserved.steps, outermost)

    def finish(self, mark: Mark) -> OperationPlacement:
        """End a cell and return the placement since `mark`."""
        self._cells -= 1
        self._calls += self._graph_calls.take()
        if mark.outermost:
            self._stop()
        failure = self._failure or self._graphs.failure
        if failure is not None:
            return OperationPlacement(
                None, say("TensorFlow's operations could not be observed ({error}).", error=failure)
            )
        counts = self._counts - mark.counts
        unknown = []
        called: list[tuple[str, int, GraphParts]] = []
        for (name, wanted), times in (self._calls - mark.calls).items():
            parts = self._graphs.parts((name, wanted))
            if parts is None:
                unknown.append(name)
                continue
            called.append((name, times, parts))
            for (device, operation), count in parts.operations.items():
                counts[wanted, device, operation] += count * times
        only = self._graphs.only_device() if unknown else None
        reasons: list[Sentence] = []
        if self._truncated:
            reasons.append(
                say("Only the first {count} eager operations of this cell were observed.", count=LIMIT)
            )
        reasons += unprepared_notes(unknown, only is not None)
        reasons += unobserved_notes(
            other_threads=self._unobserved.other_threads != mark.other_threads,
            sessions=self._unobserved.steps != mark.steps,
        )
        why = joined(*reasons) if reasons else None
        ran_on = _ran_on(counts, why, only)
        return OperationPlacement(
            None if why and not ran_on else ran_on,
            why,
            (*placement_notes(counts, complete=why is None), *copy_notes(called)),
        )

    def _stop(self) -> None:
        try:
            self._unobserved.end()
            self._graph_calls.leave()
            self._remove_callback()
            here = self._context._thread_local_data
            here.op_callbacks = list(here.op_callbacks)
        except Exception as error:
            self._failure = f"{type(error).__name__}: {error}"

    def _add_callback(self) -> None:
        from tensorflow.python.framework import op_callbacks

        here = self._context._thread_local_data
        here.op_callbacks = _Callbacks(here.op_callbacks, self._on_operation)
        op_callbacks.add_op_callback(self._on_operation)

    def _remove_callback(self) -> None:
        from tensorflow.python.framework import op_callbacks

        with suppress(KeyError):  # already removed at the limit, or by the user's clear_op_callbacks
            op_callbacks.remove_op_callback(self._on_operation)

    def _on_operation(
        self,
        op_type: str | bytes,
        inputs: Any,
        attrs: Any,
        outputs: Any,
        op_name: Any = None,
        graph: Any = None,
    ) -> None:
        if graph is not None:  # a graph is being built, and nothing runs
            return
        try:
            # An operation on TensorFlow's slow path (inputs to convert) has its name in bytes.
            name = op_type.decode() if isinstance(op_type, bytes) else op_type
            if name.startswith("__"):  # a graph
                return
            tensors = outputs or inputs  # an operation without result works on its input, a variable
            if tensors:
                self._counts[self._context.device_name, tensors[0].device, name] += 1
            self._eager += 1
            if self._eager >= LIMIT:
                self._truncated = True
                self._remove_callback()
        except Exception as error:  # the user's operation has succeeded; we must not make it fail
            self._failure = f"{type(error).__name__}: {error}"


class _Callbacks(list[Any]):
    """A thread's operation callbacks, of which `ours` is not called while a graph is built.

    If there are callbacks, TensorFlow prepares their arguments for each operation of a graph, which takes
    some 20 us; Keras builds four graphs for the data of every `fit`. TensorFlow tests the truth of this list
    when it builds a graph, and the length when an operation runs.
    """

    def __init__(self, others: list[Any], ours: Any) -> None:
        super().__init__(others)
        self._ours = ours

    def __bool__(self) -> bool:
        return any(one != self._ours for one in self)


@contextmanager
def without_callbacks() -> Iterator[None]:
    """Hide this thread's operations in the block from all callbacks, the user's and ours."""
    here = eager_context()._thread_local_data
    callbacks, here.op_callbacks = here.op_callbacks, []
    try:
        yield
    finally:
        here.op_callbacks = callbacks


def _ran_on(counts: Counter[Placed], why: Sentence | None, only: str | None) -> tuple[RanOn, ...]:
    """Return the devices of the counted operations, and the only possible device of all others, if known.

    `why` says why not everything was counted. It is stated once in the record, not for each device.
    """
    total = counts.total()
    devices: Counter[str] = Counter()
    for (_, device, _), count in counts.items():
        devices[device] += count
    if only is not None:
        devices.setdefault(only, 0)
    return tuple(
        RanOn(
            framework="tensorflow",
            device=short_name(device),
            kind=kind_of(short_name(device).partition(":")[0].upper()),
            native_name=device,
            operations=None if why else count,
            share=None if why else count / total,
            why_missing=say("At least {count} operations ran here.", count=count) if why and count else None,
            evidence="counted" if count else _ONLY,
        )
        for device, count in devices.most_common()
    )
