"""Where TensorFlow's operations really ran, seen from inside and cheaply.

An operation callback (private; seen working on 2.19.1) tells the device of each eager operation;
`tensorflow_calls` which graphs are called, and `graphs.py` the operations of each.

The callback costs about 5 us an operation, so it is taken away after `LIMIT` eager operations of one
cell; the record then says that only those were watched. Graphs are counted to the end. Both see the
thread that they were added in; that other threads or sessions worked is told by `unseen.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from jupyter_mlgpu.measure.frameworks.tensorflow.calls import GraphCalls
from jupyter_mlgpu.measure.frameworks.tensorflow.graphs import Call, GraphCollection, GraphParts
from jupyter_mlgpu.measure.frameworks.tensorflow.names import kind_of, short_name
from jupyter_mlgpu.measure.frameworks.tensorflow.notes import Placed, copied, elsewhere, not_seen, unprepared
from jupyter_mlgpu.measure.frameworks.tensorflow.unseen import Unseen
from jupyter_mlgpu.record.record import Evidence, RanOn
from jupyter_mlgpu.record.sentence import Sentence, joined, say

#: Eager operations watched in one cell: about 2 ms of cost at most.
LIMIT = 400

#: Evidence: there is no other device (see `RanOn`).
_ONLY: Evidence = "only device"


@dataclass(slots=True)
class Mark:
    """Where the counters stood when a cell began."""

    counts: Counter[Placed]
    calls: Counter[Call]
    elsewhere: int
    steps: int
    outermost: bool


@dataclass(frozen=True, slots=True)
class SeenPlacement:
    """What ran, most operations first (None: not known), why something is not known, and notes on it."""

    ran_on: tuple[RanOn, ...] | None
    why: Sentence | None
    notes: tuple[Sentence, ...] = ()


class PlacementWatch:
    """Counts the operations of one thread by device, while at least one cell is watched in it."""

    def __init__(self, graphs: GraphCollection, calls: GraphCalls, unseen: Unseen) -> None:
        self._graphs = graphs
        self._graph_calls = calls
        self._unseen = unseen
        self._counts: Counter[Placed] = Counter()
        self._calls: Counter[Call] = Counter()
        self._eager = 0
        self._watching = 0
        self._truncated = False
        self._failure: str | None = None
        self._context: Any = None

    def start(self) -> Mark:
        """Begin to watch; cells may be nested."""
        outermost = self._watching == 0
        self._watching += 1
        if outermost:
            self._counts.clear()
            self._calls.clear()
            self._eager = 0
            self._truncated = False
            self._failure = None
            try:
                self._context = _context()
                self._graphs.failure = None
                self._graphs.share()
                self._graph_calls.count()
                self._unseen.begin()
                self._add_callback()
            except Exception as error:
                self._failure = f"{type(error).__name__}: {error}"
        # Taking the calls makes the next one of each graph a first one, which is looked into.
        self._calls += self._graph_calls.take()
        counts, calls = Counter(self._counts), Counter(self._calls)
        return Mark(counts, calls, self._unseen.elsewhere, self._unseen.steps, outermost)

    def finish(self, mark: Mark) -> SeenPlacement:
        """What ran since `mark`."""
        self._watching -= 1
        self._calls += self._graph_calls.take()
        if mark.outermost:
            self._stop()
        failure = self._failure or self._graphs.failure
        if failure is not None:
            return SeenPlacement(
                None, say("TensorFlow's operations could not be observed ({error}).", error=failure)
            )
        counts = self._counts - mark.counts
        unknown = []
        called: list[tuple[str, int, GraphParts]] = []
        for (name, asked), times in (self._calls - mark.calls).items():
            parts = self._graphs.parts((name, asked))
            if parts is None:
                unknown.append(name)
                continue
            called.append((name, times, parts))
            for (device, operation), count in parts.operations.items():
                counts[asked, device, operation] += count * times
        only = self._graphs.only_device() if unknown else None
        reasons: list[Sentence] = []
        if self._truncated:
            reasons.append(
                say("Only the first {count} eager operations of this cell were observed.", count=LIMIT)
            )
        reasons += unprepared(unknown, only is not None)
        reasons += not_seen(
            other_threads=self._unseen.elsewhere != mark.elsewhere,
            sessions=self._unseen.steps != mark.steps,
        )
        why = joined(*reasons) if reasons else None
        ran_on = _ran_on(counts, why, only)
        return SeenPlacement(
            None if why and not ran_on else ran_on,
            why,
            (*elsewhere(counts, complete=why is None), *copied(called)),
        )

    def _stop(self) -> None:
        try:
            self._unseen.end()
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

        with suppress(KeyError):  # already taken away at the limit, or by the user's clear_op_callbacks
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
        if graph is not None:  # a graph is being built: nothing runs
            return
        try:
            # An operation that TensorFlow runs the slow way (inputs to convert) comes with its name as bytes.
            name = op_type.decode() if isinstance(op_type, bytes) else op_type
            if name.startswith("__"):  # a graph
                return
            tensors = outputs or inputs  # an operation without result works on the variable it is given
            if tensors:
                self._counts[self._context.device_name, tensors[0].device, name] += 1
            self._eager += 1
            if self._eager >= LIMIT:
                self._truncated = True
                self._remove_callback()
        except Exception as error:  # the user's operation has succeeded; ours must not make it fail
            self._failure = f"{type(error).__name__}: {error}"


class _Callbacks(list[Any]):
    """A thread's operation callbacks, of which `ours` is told of no operation of a graph that is being built.

    Where there are any, TensorFlow makes for each such operation what it tells them, which takes it some
    20 us; Keras builds four graphs for the data of every `fit`. It asks for that whether the list is true,
    and where an operation runs how long it is.
    """

    def __init__(self, others: list[Any], ours: Any) -> None:
        super().__init__(others)
        self._ours = ours

    def __bool__(self) -> bool:
        return any(one != self._ours for one in self)


@contextmanager
def unwatched() -> Iterator[None]:
    """Operations of our own that this thread runs meanwhile are told to no callback, the user's or ours."""
    here = _context()._thread_local_data
    callbacks, here.op_callbacks = here.op_callbacks, []
    try:
        yield
    finally:
        here.op_callbacks = callbacks


def _context() -> Any:
    from tensorflow.python.eager import context

    return context.context()


def _ran_on(counts: Counter[Placed], why: Sentence | None, only: str | None) -> tuple[RanOn, ...]:
    """The devices of what was counted, and the one that all else must have run on, where it is known.

    `why` says why not all was counted: it stands once in the record, not with each device.
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
