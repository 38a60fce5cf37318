"""A dispatch mode that checks each PyTorch operation of a run, and gives the run the device's own results."""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

from jupyter_mlgpu.measure.checking import attention
from jupyter_mlgpu.measure.checking.bounds import Bounds
from jupyter_mlgpu.measure.checking.compare import Deviation, compare
from jupyter_mlgpu.measure.checking.exact import settled, tolerance_of_exact
from jupyter_mlgpu.measure.checking.kinds import ComparisonKind, full_name, kind_of
from jupyter_mlgpu.measure.checking.memory import fits
from jupyter_mlgpu.measure.checking.places import compare_places
from jupyter_mlgpu.measure.checking.reference import (
    NotComparableError,
    OperationCall,
    apart,
    is_plain,
    outputs,
    take,
    tensors_of,
    to_cpu,
)
from jupyter_mlgpu.measure.checking.result import ResultCheck, WrongResult
from jupyter_mlgpu.measure.checking.user_lines import CalledAt, called_at, called_by
from jupyter_mlgpu.record.clock import real_time

#: Seconds that checking may take in one cell.
BUDGET_S = 60.0
#: Once half of the time is spent, so many of each operation with the same shapes and types are checked, for a
#: loop must not take the time of what follows it.
ALIKE = 3
#: Wrong operations that are described, each once for a line.
FIRST = 10


class _Prepared(NamedTuple):
    kind: ComparisonKind
    call: OperationCall
    #: The device of the arguments: the first that is not the CPU.
    device: str
    #: Elements of the arguments, and of what the reference makes of them on the way.
    elements: int


class Checker:
    """Checks operations one after the other, and counts them. Methods are called by the dispatch mode."""

    def __init__(self, budget: float = BUDGET_S) -> None:
        self._budget = budget
        self._seconds = 0.0
        self._checked = self._random = self._left_out = self._wrong = 0
        self._not_comparable: Counter[str] = Counter()
        self._alike: Counter[Any] = Counter()
        self._first: dict[tuple[str, CalledAt | None], WrongResult] = {}
        self._times: Counter[tuple[str, CalledAt | None]] = Counter()
        self._thread = threading.get_ident()
        self._lock = threading.RLock()

    def result(self) -> ResultCheck:
        """Return what was found so far."""
        return ResultCheck(
            self._checked,
            self._random,
            dict(self._not_comparable),
            self._left_out,
            self._wrong,
            tuple(replace(one, times=self._times[place]) for place, one in self._first.items()),
            self._seconds,
            self._budget,
        )

    def before(self, operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Prepared | None:
        """Copy the arguments of an operation that is to be checked, before it runs."""
        with self._guarded(operation):
            kind = kind_of(operation)
            if kind is not ComparisonKind.VALUELESS:
                return self._prepare(kind, operation, args, kwargs)
        return None

    def _prepare(
        self, kind: ComparisonKind, operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> _Prepared | None:
        import torch

        if kind is ComparisonKind.RANDOM:
            self._random += 1
            return None
        if kind is ComparisonKind.NOT_COMPARABLE:
            raise NotComparableError("its kind")
        if torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing():
            # Nothing runs yet, and a copy would end the capture.
            self._not_comparable[f"{full_name(operation)} (CUDA graph)"] += 1
            return None
        tensors = tensors_of((args, kwargs))
        if not all(map(is_plain, tensors)):
            raise NotComparableError("not a plain tensor")
        elements = sum(one.numel() for one in tensors)
        if kind is ComparisonKind.ATTENTION:
            elements += attention.elements(OperationCall(operation, args, kwargs))
        if not fits(elements) or self._is_left_out(operation, tensors):
            self._left_out += 1
            return None
        with self._timed(), apart():
            kind = settled(kind, operation, args, kwargs)
            call = take(
                operation, args, kwargs, widen=kind not in (ComparisonKind.EXACT, ComparisonKind.PLACES)
            )
            if kind is ComparisonKind.ATTENTION and attention.dropout(call):
                self._random += 1
                return None
            return _Prepared(kind, call, _device(tensors), elements)

    def _is_left_out(self, operation: Any, tensors: list[Any]) -> bool:
        """Return True if the time is spent, or half spent on operations like this one."""
        if self._seconds >= self._budget:
            return True
        kind = (operation, tuple((one.shape, one.dtype) for one in tensors))
        self._alike[kind] += 1
        return self._seconds >= self._budget / 2 and self._alike[kind] > ALIKE

    def after(self, prepared: _Prepared, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        """Compare what an operation gave with its reference."""
        call = prepared.call
        with self._guarded(call.operation), self._timed(), apart():
            if not fits(prepared.elements + sum(one.numel() for one in tensors_of(result))):
                self._left_out += 1
                return
            given = [_on_cpu(one) for one in outputs(call.operation, args, kwargs, call.written, result)]
            found = _differing(prepared, given)
            self._checked += 1
            if found is None:
                return
            self._wrong += 1
            # From the mode's own frame on; a thread of autograd has no line of the user's.
            line = called_at(sys._getframe(1)) or called_by(self._thread)
            name = full_name(call.operation)
            self._times[name, line] += 1
            if (name, line) not in self._first and len(self._first) < FIRST:
                output, deviation = found
                one = given[output]
                dtype = str(one.dtype).removeprefix("torch.")
                device = _result_device(result) or prepared.device
                self._first[name, line] = WrongResult(
                    name, line, device, dtype, tuple(one.shape), output, deviation
                )

    @contextmanager
    def _guarded(self, operation: Any) -> Iterator[None]:
        """Let no error end the user's cell: an operation that cannot be checked is counted as such."""
        with self._lock:
            try:
                yield
            except NotComparableError:
                self._not_comparable[full_name(operation)] += 1
            except Exception as error:
                self._not_comparable[f"{full_name(operation)} ({type(error).__name__})"] += 1

    @contextmanager
    def _timed(self) -> Iterator[None]:
        """Count the time of checking."""
        begun = real_time.perf_counter()
        try:
            yield
        finally:
            self._seconds += real_time.perf_counter() - begun


@contextmanager
def checking(budget: float = BUDGET_S) -> Iterator[Checker]:
    """Check all PyTorch operations of the block, in this thread and in autograd's; yield the checker.

    Functions of `torch.compile` run eagerly meanwhile.
    """
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    checker, process = Checker(budget), os.getpid()

    class CheckMode(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(
            self, operation: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
        ) -> Any:
            kwargs = kwargs or {}
            if os.getpid() != process:  # a forked worker, whose answer nobody would read
                return operation(*args, **kwargs)
            prepared = checker.before(operation, args, kwargs)
            result = operation(*args, **kwargs)
            if prepared is not None:
                checker.after(prepared, args, kwargs, result)
            return result

    with torch.compiler.set_stance("force_eager"), CheckMode():
        yield checker


def _differing(prepared: _Prepared, given: list[Any]) -> tuple[int, Deviation] | None:
    """Return the first result that is wrong, with its number."""
    import torch

    call, kind = prepared.call, prepared.kind
    evaluate = (
        attention.evaluate if kind is ComparisonKind.ATTENTION else lambda one: list(map(_on_cpu, one.run()))
    )
    reference = evaluate(call)
    if kind is ComparisonKind.ATTENTION:
        given = given[: len(reference)]
    if len(given) != len(reference):
        raise NotComparableError("another number of results")
    if kind is ComparisonKind.PLACES:
        found = compare_places(call, given, reference)
        return None if found is None else (0, found)
    # Beside the first result, devices have forms of their own, such as an empty one that is not needed.
    pairs = [
        place for place in range(len(given)) if place == 0 or given[place].shape == reference[place].shape
    ]
    given, reference = [given[one] for one in pairs], [reference[one] for one in pairs]
    if kind is ComparisonKind.EXACT:
        bounds = [(tolerance_of_exact(call, one), None) for one in given]
    else:
        bounds = _bounds(prepared, evaluate, pairs, reference, given)
    for place, ours, exact, (bound, reach) in zip(pairs, given, reference, bounds, strict=True):
        if kind in (ComparisonKind.LINEAR, ComparisonKind.ELEMENTWISE) and not exact.is_complex():
            bound = torch.where(torch.isfinite(exact), bound, 0.0)  # nothing rounds to NaN or infinity
        if (deviation := compare(ours, exact, bound, reach)) is not None:
            return place, deviation
    return None


def _bounds(
    prepared: _Prepared, evaluate: Any, pairs: list[int], reference: list[Any], given: list[Any]
) -> list[tuple[Any, Any]]:
    def chosen(call: OperationCall) -> list[Any]:
        results = evaluate(call)
        return [results[one] for one in pairs]

    return Bounds(prepared.kind, prepared.call, chosen, prepared.device).of(reference, given)


def _on_cpu(value: Any) -> Any:
    import torch

    if not isinstance(value, torch.Tensor):
        return torch.tensor(value, device="cpu")
    if not is_plain(value):
        raise NotComparableError("not a plain tensor")
    return to_cpu(value)


def _device(tensors: list[Any]) -> str:
    return next((one.device.type for one in tensors if one.device.type != "cpu"), "cpu")


def _result_device(result: Any) -> str | None:
    found = tensors_of(result)
    return found[0].device.type if found else None
