"""Times of the layers of `mlx.nn` in a profiled cell, in place of a profiler, which MLX does not have.

While the session is on, `__call__` of each class of layers is replaced by a function that calls it and then
computes what it returned (`mx.eval`). What the layer was given is computed before its time begins. So a time
is that of the layer's forward pass, with the wait for the device, and without what MLX would have joined over
layers. It is no time of the GPU, and the cell takes longer than without.

The user's methods are called as before, once, with the same arguments; what they raise passes through. In a
function that MLX transforms, values are placeholders. Some transformations (`mx.compile`, `mx.vmap`) forbid
to compute these: MLX raises ValueError, and such calls are left out. Under `mx.grad` MLX allows it (read in
MLX 0.32: transforms.cpp).
"""

from __future__ import annotations

import functools
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from types import FunctionType
from typing import Any

from jupyter_mlgpu.measure.frameworks.imports import module
from jupyter_mlgpu.measure.frameworks.mlx import FRAMEWORK
from jupyter_mlgpu.measure.ops.events import CUT, LAYERS, LIMIT, Event, Profile
from jupyter_mlgpu.measure.ops.profiler import Profiler, Refused, Session
from jupyter_mlgpu.measure.uninterrupted import Uninterrupted
from jupyter_mlgpu.measure.user_objects import bases, is_a, is_one_of, own_attribute, type_name
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.sentence import Sentence, say, say_count

PROFILER = say("mx.eval after each: forward pass only, slower than without")
NOT_GPU_TIME = say("The times of layers include the waits for the device; they are no GPU time.")
NO_LAYER = say(
    "No call of a layer of `mlx.nn` was seen in this cell: a function that `mx.compile` traced before runs "
    "without any. To time a part of the cell, wrap it in `with jupyter_mlgpu.trace(name):` and end it with "
    "`mx.eval` of its result."
)
_TRANSFORMED = say("nothing can be computed inside mx.compile and other transformations")
_FAILED = say("what the layer was given or returned could not be computed")
#: The largest number of objects in a layer's arguments or results, and of layers in a model, that are read.
_MOST = 10_000


class MlxLayerTimes(Profiler):
    """The times of layers, before they are measured."""

    framework = FRAMEWORK.name

    def start(self, shapes: bool = False) -> Session | Refused:
        """Replace `__call__` of the classes of layers. `shapes` changes nothing."""
        if module("mlx.nn") is None and FRAMEWORK.why_no_profiler is not None:
            return Refused(FRAMEWORK.why_no_profiler)
        return LayerSession()


class LayerSession(Session):
    """The replaced methods, and the times so far."""

    def __init__(self) -> None:
        self._mx = module("mlx.core")
        self._layer: Any = module("mlx.nn").Module
        self._thread = threading.get_ident()
        self._replaced: list[tuple[type, str, Any, Any]] = []
        self._begun_ns = real_time.time_ns()
        self._ended_ns: int | None = None
        self._events: list[Event] = []
        self._cut = 0
        #: The number of calls that are not timed, by the reason.
        self._left_out: Counter[Sentence] = Counter()
        #: The names of the layers in the model that is being called, by their id; None outside of a call.
        self._names: dict[int, str] | None = None
        with Uninterrupted():
            self._replace(self._layer, "__init__", self._noting_class(self._layer.__init__))
            for kind in _with_derived(self._layer):
                self._time_calls(kind)

    def turn_off(self) -> None:
        """Restore the methods."""
        with Uninterrupted():
            self._ended_ns = self._ended_ns or real_time.time_ns()
            while self._replaced:
                kind, name, original, ours = self._replaced.pop()
                if own_attribute(kind, name) is ours:  # else the user has replaced it meanwhile
                    type.__setattr__(kind, name, original)

    def stop(self) -> Profile:
        """Restore the methods and return the times."""
        self.turn_off()
        problems = [] if self._events or self._left_out else [NO_LAYER]
        problems += [_left_out(why, count) for why, count in self._left_out.items()]
        return Profile(
            FRAMEWORK.name,
            PROFILER,
            tuple(self._events),
            self._begun_ns,
            self._ended_ns or self._begun_ns,
            left_out=self._cut,
            why_left_out=CUT if self._cut else None,
            problems=tuple(problems),
            devices_unseen=True,
            why_no_device_time=NOT_GPU_TIME,
        )

    def abandon(self) -> None:
        """Restore the methods."""
        self.turn_off()

    def _replace(self, kind: type, name: str, ours: Any) -> None:
        self._replaced.append((kind, name, own_attribute(kind, name), ours))
        type.__setattr__(kind, name, ours)  # a metaclass of the user's is not called

    def _time_calls(self, kind: type) -> None:
        original = own_attribute(kind, "__call__")
        # A method that `mx.compile` or a decorator of the user's has replaced is left as it is.
        if type(original) is FunctionType and not any(one is original for *_, one in self._replaced):
            self._replace(kind, "__call__", self._timed(original))

    def _noting_class(self, original: Callable[..., None]) -> Callable[..., None]:
        """Return `Module.__init__`, by which classes are found that the cell itself defines."""

        @functools.wraps(original)
        def init(layer: Any, /, *arguments: Any, **named: Any) -> None:
            if self._ended_ns is None:
                for kind in _derived_from(type(layer), self._layer):
                    self._time_calls(kind)
            original(layer, *arguments, **named)

        return init

    def _timed(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def call(layer: Any, /, *arguments: Any, **named: Any) -> Any:
            if self._ended_ns is not None or threading.get_ident() != self._thread:
                return original(layer, *arguments, **named)
            outermost = self._names is None
            if self._names is None:
                self._names = _names(layer, self._layer)
            try:
                return self._call(original, layer, arguments, named)
            finally:
                if outermost:
                    self._names = None

        return call

    def _call(
        self, original: Callable[..., Any], layer: Any, arguments: tuple[Any, ...], named: dict[str, Any]
    ) -> Any:
        if not self._computed((arguments, named)):
            return original(layer, *arguments, **named)
        begun = real_time.time_ns()
        result = original(layer, *arguments, **named)
        if self._computed(result):
            title = type_name(type(layer))
            name = (self._names or {}).get(id(layer), title)
            if len(self._events) < LIMIT:
                duration = real_time.time_ns() - begun
                self._events.append(Event(name, title, "host", LAYERS, LAYERS, begun, duration))
            else:
                self._cut += 1
        return result

    def _computed(self, value: object) -> bool:
        """Compute the arrays in a value. If that is impossible, return False and count a call as left out."""
        try:
            self._mx.eval([one for one in _contained(value) if type(one) is self._mx.array])
        except ValueError:
            self._left_out[_TRANSFORMED] += 1
        except Exception:  # it will be raised again where the user's code needs the value
            self._left_out[_FAILED] += 1
        else:
            return True
        return False


def _left_out(why: Sentence, count: int) -> Sentence:
    return say_count(
        "{count} call of a layer was not timed: {why}.",
        "{count} calls of layers were not timed: {why}.",
        count,
        why=why,
    )


def _with_derived(kind: type) -> Iterator[type]:
    """Yield a class, and those that are derived from it."""
    remaining, seen = [kind], set[int]()
    while remaining:
        one = remaining.pop()
        if id(one) not in seen:
            seen.add(id(one))
            yield one
            remaining.extend(type.__subclasses__(one))


def _derived_from(kind: type, base: type) -> Iterator[type]:
    """Yield the classes of a type's inheritance that are derived from `base`."""
    for one in bases(kind):
        if one is base:
            return
        yield one


def _names(model: Any, layer: type) -> dict[int, str]:
    """Return the names of a model's layers, which are paths from the model, by their id."""
    names: dict[int, str] = {id(model): type_name(type(model))}
    remaining: list[tuple[str, Any]] = [("", model)]
    for _ in range(_MOST):
        if not remaining:
            break
        path, one = remaining.pop()
        for key, part in _parts(one, layer):
            name = f"{path}.{key}" if path else key
            if id(part) not in names:
                names[id(part)] = name
                remaining.append((name, part))
    return names


def _parts(value: Any, layer: type) -> Iterator[tuple[str, Any]]:
    """Yield the layers and plain containers in a layer or a plain container, each with its key."""
    kind = type(value)
    if is_one_of(kind, (list, tuple)):
        found = ((f"{index}", one) for index, one in enumerate(value))
    elif kind is dict or is_a(value, layer):
        found = ((key, one) for key, one in dict.items(value) if type(key) is str)
    else:
        return
    for key, one in islice(found, _MOST):
        if is_one_of(type(one), (list, tuple, dict)) or is_a(one, layer):
            yield key, one


def _contained(value: Any) -> Iterator[Any]:
    """Yield what plain containers contain; a value that is none is yielded itself."""
    remaining = [value]
    for _ in range(_MOST):
        if not remaining:
            break
        one = remaining.pop()
        if is_one_of(type(one), (list, tuple)):
            remaining.extend(one)
        elif type(one) is dict:
            remaining.extend(one.values())
        else:
            yield one
