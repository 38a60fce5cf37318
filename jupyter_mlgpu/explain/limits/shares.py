"""How a cell's time was spent, by kind of limit: what each look saw, weighed by the time that it stands for.

A look tells what was called and how the thread was at work. What neither tells alone, the looks at one place tell
together: native code that went on while the interpreter's lock was ours was a long call, and a thread that
never did made many short ones.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from jupyter_mlgpu.measure.activity.activity import Activity, Call, Part
from jupyter_mlgpu.record.limit import LimitKind

#: Methods and functions after which the host has values that a device computed.
VALUES = frozenset(
    "item numpy cpu tolist block_until_ready synchronize eval async_eval asarray device_get effects_barrier".split()
)
#: Those that copy between a host and its device.
COPIES = frozenset("to cuda device_put copy_ pin_memory to_device".split())
#: Those that read what others wrote, or decode it.
READS = frozenset(
    "read readline readlines readinto read_bytes read_text load loads loadtxt genfromtxt fromfile imread decode "
    "decompress unpack unpack_from encode_batch tokenize encode".split()
)
#: Modules, written in C, whose calls wait where the thread has no processor time.
SLEEPS = frozenset("sleep select poll epoll pause sigwait waitpid wait4 waitid".split())
#: Where a method of an array library can be told by its module.
ARRAYS = frozenset("numpy scipy torch tensorflow keras jax jaxlib mlx cupy pandas sklearn polars numba".split())
#: Bytes of an array from which on an operation on it is a long call, and below which it is a short one.
LARGE, SMALL = 1 << 20, 1 << 16
#: The part of the looks at a place that must have seen native code go on, for its calls to be long ones.
_LONG = 0.25


@dataclass(slots=True)
class Shares:
    """Seconds by kind, of `seconds` in all; `parts` are those that a kind is made of.

    `looks` is how many were taken, the time not seen counted as looks missed. `guessed` are the seconds of a kind
    that rest on what was found after a time not seen, or on names that are not known.
    """

    seconds: float
    looks: int
    by_kind: Counter[LimitKind] = field(default_factory=Counter)
    parts: dict[LimitKind, list[Part]] = field(default_factory=lambda: defaultdict(list))
    guessed: Counter[LimitKind] = field(default_factory=Counter)

    def share(self, kind: LimitKind) -> float:
        """The part of the time, from 0 to 1."""
        return min(1.0, self.by_kind[kind] / self.seconds) if self.seconds > 0 else 0.0

    def add(self, kind: LimitKind, part: Part, guessed: bool = False) -> None:
        """Count a part for a kind."""
        self.by_kind[kind] += part.seconds  # type: ignore[assignment]
        self.parts[kind].append(part)
        if guessed:
            self.guessed[kind] += part.seconds  # type: ignore[assignment]


def of(activity: Activity, framework_worked: bool, on_gpu: bool) -> Shares:
    """The shares of what was seen of a cell.

    `framework_worked`: a framework is known to have computed in it. `on_gpu`: on a device beside the host.
    """
    every = (*activity.parts, *activity.unseen_in)
    seconds = sum(part.seconds for part in every)
    mean = sum(part.seconds for part in activity.parts) / activity.looks if activity.looks else 0.0
    missed = round(activity.unseen / mean) if mean else 0
    found = Shares(seconds, activity.looks + missed)
    long = _long_places(activity.parts)
    for part in activity.parts:
        kind, guessed = _kind(part, long, framework_worked, on_gpu)
        found.add(kind, part, guessed)
    if not every:  # nobody could look, from the first moment to the last
        found.seconds, found.looks = activity.seconds, 0
        worked = "python" if activity.unseen_busy else "unknown"
        found.add(worked, Part("interpreter", activity.seconds, 0), guessed=True)
    for part in activity.unseen_in:
        found.add(_kind_unseen(part, long, framework_worked, on_gpu), part, guessed=True)
    return found


def is_profiled(activity: Activity) -> bool:
    """Whether somebody's own profiler or debugger was at work: then times say nothing."""
    return any(part.doing == "profiler" for part in (*activity.parts, *activity.unseen_in))


def _kind(part: Part, long: set[object], framework_worked: bool, on_gpu: bool) -> tuple[LimitKind, bool]:
    match part.doing:
        case "compiling" | "importing":
            return "compiling", False
        case "input":
            return "input", False
    name, module = _called(part.call)
    idle = part.state in ("idle", "idle beside others")
    if part.doing == "copy" or (part.doing is None and name in COPIES):
        return ("transfer", False) if on_gpu else (_computing(part, long), True)
    if part.doing == "values" or (part.doing is None and name in VALUES and module != "builtins"):
        if on_gpu:
            return "device", False  # or transfer, where the device had nothing to do: the judge knows
        return (_computing(part, long), False) if part.state != "idle" else ("waiting", True)
    if part.doing is None and name in READS and not _is_array(module):
        return ("waiting", False) if idle else ("input", True)
    if part.state == "idle":
        return "waiting", part.doing is None and name not in SLEEPS
    if part.state == "idle beside others":
        return "device", part.doing == "waiting"
    if part.state == "native":
        return "device", False
    if part.state == "interpreter" and not _arrays_at(part, SMALL):
        return "python", not _arrays_known(part)
    kind, guessed = _short(part, long, framework_worked)
    return kind, guessed or part.state == "no processor"


def _short(part: Part, long: set[object], framework_worked: bool) -> tuple[LimitKind, bool]:
    """What a thread was at that had a processor, and the interpreter's lock free again and again."""
    if _place(part) in long or _arrays_at(part, LARGE, least=True):
        return "device", False
    if _of_arrays(part):
        return "launch", False
    return ("launch", True) if framework_worked else ("python", True)


def _kind_unseen(part: Part, long: set[object], framework_worked: bool, on_gpu: bool) -> LimitKind:
    """A call that kept the interpreter's lock all the time: the thread was found where it gave the lock up."""
    if part.state == "idle":
        return "unknown"
    if part.doing in ("compiling", "importing", "input"):
        return _kind(part, long, framework_worked, on_gpu)[0]
    return "device" if _of_arrays(part) else "python"


def _computing(part: Part, long: set[object]) -> LimitKind:
    """What asking for values means where the host itself computes them."""
    if part.state in ("native", "idle beside others", "idle") or _place(part) in long:
        return "device"
    return "launch"


def _long_places(parts: Iterable[Part]) -> set[object]:
    """Places whose calls are long ones."""
    native: Counter[object] = Counter()
    worked: Counter[object] = Counter()
    for part in parts:
        if part.state in ("native", "interpreter", "short calls"):  # nobody knows where it had no processor
            worked[_place(part)] += part.looks
            native[_place(part)] += part.looks if part.state == "native" else 0
    return {place for place, looks in worked.items() if native[place] >= _LONG * looks}


def _arrays_known(part: Part) -> bool:
    """Whether it is known of the innermost line that no small arrays are worked on there."""
    return any(call is not None and call.module is not None for call in (part.call, part.line_call))


def _place(part: Part) -> object:
    return part.line, part.call and part.call.text, part.doing


def _called(call: Call | None) -> tuple[str, str | None]:
    return ("", None) if call is None else (call.text.rpartition(".")[2], call.module)


def _is_array(module: str | None) -> bool:
    return module is not None and module.partition(".")[0] in ARRAYS


def _of_arrays(part: Part) -> bool:
    return any(call is not None and _is_array(call.module) for call in (part.call, part.line_call))


def _arrays_at(part: Part, size: int, least: bool = False) -> bool:
    """Whether an array of a known size is worked on, of at most, or at least, so many bytes."""
    sizes: Sequence[int] = [
        call.size for call in (part.call, part.line_call) if call is not None and call.size is not None
    ]
    return bool(sizes) and (max(sizes) >= size if least else max(sizes) <= size)
