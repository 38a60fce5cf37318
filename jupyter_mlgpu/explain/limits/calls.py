"""Classify the calls that samples found, by their name and module."""

from __future__ import annotations

from jupyter_mlgpu.measure.activity.activity import Activity, Call, Part
from jupyter_mlgpu.measure.frameworks import registry

#: Methods and functions that give the host values computed by a device.
_VALUES = frozenset(
    (
        "item",
        "numpy",
        "cpu",
        "tolist",
        "block_until_ready",
        "synchronize",
        "eval",
        "async_eval",
        "asarray",
        "device_get",
        "effects_barrier",
    )
)
#: Python's built-in functions that ask an array for its value.
_CONVERSIONS = frozenset(("float", "int", "bool", "complex", "print", "str", "repr", "format"))
#: Functions that copy between host and device.
_COPIES = frozenset(("to", "cuda", "device_put", "copy_", "pin_memory", "to_device"))
#: Functions that read or decode data.
_READS = frozenset(
    (
        "read",
        "readline",
        "readlines",
        "readinto",
        "read_bytes",
        "read_text",
        "load",
        "loadtxt",
        "genfromtxt",
        "fromfile",
        "imread",
        "decode",
        "decompress",
        "unpack",
        "unpack_from",
        "encode_batch",
        "tokenize",
    )
)
#: Functions that wait without using processor time.
_SLEEPS = frozenset(("sleep", "select", "poll", "epoll", "pause", "sigwait", "waitpid", "wait4", "waitid"))
#: States of a thread that runs native code.
_IN_NATIVE_CODE = ("native", "short calls", "idle beside others")
_BACKWARD = frozenset(("run_backward", "backward"))
#: Array libraries other than the frameworks.
_ARRAYS = ("numpy", "keras", "cupy")


def brings_values(call: Call | None) -> bool:
    """Return True if the call waits until a device has computed."""
    return call is not None and _name(call) in _VALUES and call.module != "builtins"


def waits_for_values(part: Part) -> bool:
    """Return True if a thread rests in a call that converts an array, such as `print` or `np.array`.

    Such a call rests only while it waits for a device.
    """
    call = part.call
    copied = call is not None and _name(call) == "array" and (call.module or "").startswith("numpy")
    return part.state in ("idle", "idle beside others") and (converts(call) or copied)


def computes_lazily(part: Part) -> bool:
    """Return True if a lazy framework computes in the call: what looks like a wait is its own work."""
    call = part.call
    lazy = tuple(name for name in registry.FRAMEWORKS if registry.framework(name).evaluate is not None)
    return brings_values(call) and call is not None and (call.module or "").startswith(lazy)


def converts(call: Call | None) -> bool:
    """Return True if the call is a built-in function, such as `float`, that asks an array for its value.

    Such a call runs for long without the GIL only while it waits for a device.
    """
    return call is not None and call.module == "builtins" and _name(call) in _CONVERSIONS


def asks(part: Part) -> bool:
    """Return True if the call waits for values of a device, or copies between it and the host."""
    if part.state != "short calls" and converts(part.call):
        return True
    return part.doing in ("values", "copy") or brings_values(part.call) or copies(part.call)


def copies(call: Call | None) -> bool:
    """Return True if the call copies between host and device."""
    return call is not None and _name(call) in _COPIES


def reads(call: Call | None) -> bool:
    """Return True if the call reads or decodes data."""
    return call is not None and _name(call) in _READS


def sleeps(call: Call | None) -> bool:
    """Return True if the call is known to wait, such as `sleep`."""
    return call is not None and _name(call) in _SLEEPS


def is_sleep(call: Call | None) -> bool:
    """Return True if the call is a sleep, which no other thread's work can end."""
    return call is not None and _name(call) == "sleep"


def is_unnamed_wait(part: Part) -> bool:
    """Return True if a wait in this part has no known reason."""
    return part.doing is None and not sleeps(part.call)


def of_arrays(part: Part) -> bool:
    """Return True if the innermost call or the call on the user's line belongs to an array library."""
    return any(call is not None and _is_of_arrays(call) for call in (part.call, part.line_call))


def goes_backward(call: Call | None) -> bool:
    """Return True if the call runs a backward pass, of operations as many and as long as the forward ones."""
    return call is not None and _name(call) in _BACKWARD


def operates(call: Call | None) -> bool:
    """Return True if the sampled instruction itself is an operation of an array library."""
    return call is not None and call.text != "" and _is_of_arrays(call)


def frameworks_called(activity: Activity) -> set[str]:
    """Return the frameworks of which samples found an operation.

    It is the sampled call itself or, while native code ran, the call on the user's line.
    """
    found = {part.call for part in activity.parts if operates(part.call)}
    found |= {
        part.line_call
        for part in activity.parts
        if part.doing is None and part.state in _IN_NATIVE_CODE and operates(part.line_call)
    }
    modules = {call.module or "" for call in found if call is not None}
    return {name for name in registry.FRAMEWORKS for module in modules if module.startswith(name)}


def holds_gil(part: Part) -> bool:
    """Return True if the user's own line calls an array library that holds the GIL while it computes."""
    call = part.call
    if call is None or call != part.line_call or call.module is None:
        return False
    # Observed with NumPy 2.1 on arrays of fewer than 500 elements.
    frameworks = (name for name in registry.FRAMEWORKS if registry.framework(name).keeps_gil)
    return call.module.startswith(("numpy", *frameworks))


def is_known(part: Part) -> bool:
    """Return True if the module of the innermost call or of the call on the user's line is known."""
    return any(call is not None and call.module is not None for call in (part.call, part.line_call))


def _name(call: Call) -> str:
    return call.text.rpartition(".")[2]


def _is_of_arrays(call: Call) -> bool:
    return call.module is not None and call.module.startswith((*_ARRAYS, *registry.FRAMEWORKS))
