"""What a call does, by its name and its module: data, and questions to it."""

from __future__ import annotations

from jupyter_mlgpu.measure.activity.activity import Call, Part
from jupyter_mlgpu.measure.frameworks import registry

#: Methods and functions after which the host has values that a device computed.
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
#: Functions of Python's own that ask an array for its value.
_CONVERSIONS = frozenset(("float", "int", "bool", "complex", "print", "str", "repr", "format"))
#: Those that copy between a host and its device.
_COPIES = frozenset(("to", "cuda", "device_put", "copy_", "pin_memory", "to_device"))
#: Those that read what others wrote, or decode it.
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
#: Those that wait, where the thread has no processor time meanwhile.
_SLEEPS = frozenset(("sleep", "select", "poll", "epoll", "pause", "sigwait", "waitpid", "wait4", "waitid"))
_BACKWARD = frozenset(("run_backward", "backward"))
#: Libraries of arrays beside the frameworks.
_ARRAYS = ("numpy", "keras", "cupy")


def brings_values(call: Call | None) -> bool:
    """Whether it waits until a device has computed."""
    return call is not None and _name(call) in _VALUES and call.module != "builtins"


def converts(call: Call | None) -> bool:
    """Return whether it is a built-in function, such as `float`, that asks an array for its value.

    Such a call runs long without the GIL only while it waits for a device.
    """
    return call is not None and call.module == "builtins" and _name(call) in _CONVERSIONS


def copies(call: Call | None) -> bool:
    """Whether it copies between a host and its device."""
    return call is not None and _name(call) in _COPIES


def reads(call: Call | None) -> bool:
    """Whether it reads or decodes."""
    return call is not None and _name(call) in _READS


def sleeps(call: Call | None) -> bool:
    """Whether it is known to wait."""
    return call is not None and _name(call) in _SLEEPS


def of_arrays(part: Part) -> bool:
    """Whether a library of arrays is called, in the innermost place or in the user's line."""
    return any(call is not None and _is_of_arrays(call) for call in (part.call, part.line_call))


def goes_backward(call: Call | None) -> bool:
    """Whether it runs the operations of a backward pass, which are as many and as long as those before it."""
    return call is not None and _name(call) in _BACKWARD


def operates(call: Call | None) -> bool:
    """Whether the instruction itself is an operation of a library of arrays."""
    return call is not None and call.text != "" and _is_of_arrays(call)


def keeps_the_lock(part: Part) -> bool:
    """Whether the user's own line works on arrays of a library that keeps the lock meanwhile."""
    call = part.call
    if call is None or call != part.line_call or call.module is None:
        return False
    # Seen with NumPy 2.1, for arrays below 500 elements.
    frameworks = (name for name in registry.FRAMEWORKS if registry.framework(name).keeps_gil)
    return call.module.startswith(("numpy", *frameworks))


def known(part: Part) -> bool:
    """Whether the innermost place, or the user's line, tells what is worked on there."""
    return any(call is not None and call.module is not None for call in (part.call, part.line_call))


def _name(call: Call) -> str:
    return call.text.rpartition(".")[2]


def _is_of_arrays(call: Call) -> bool:
    return call.module is not None and call.module.startswith((*_ARRAYS, *registry.FRAMEWORKS))
