"""Choose one remedy for a limit, by what was called and what can help there.

A remedy names functions of one framework only where that framework did the work: see `Framework.remedies`.
"""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_mlgpu.explain.limits import calls
from jupyter_mlgpu.explain.limits.most import common, mostly
from jupyter_mlgpu.explain.limits.shares import Cause, kind_of
from jupyter_mlgpu.measure.activity.activity import Part
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record.limit import LimitKind
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import Sentence, say

#: Other programs on the GPU are known only from NVIDIA's driver, which `nvidia-smi` comes with.
WITHOUT_NEIGHBOURS = say("Run it again when no other program uses the GPU: `nvidia-smi` lists them.")

COMPILES_EACH_TIME = say(
    "An earlier run compiled it, too: the function is made anew in each run, or its shapes or Python numbers "
    "change. Make the function once, in a cell of its own, and give it arrays of the same shapes."
)

#: For a library's Python code, which the user cannot rewrite as array operations.
_PROFILE_PYTHON = say("Use Python's own profiler: `%%prun` at the top of the cell lists the functions.")

#: For operations that none of our profilers covers, such as those of NumPy.
_TIME_PARTS = say(
    "Time parts of it in cells of their own, or wrap them in `with jupyter_mlgpu.trace(name):`."
)

_PREDICT = say(
    "Each call of `predict` prepares a data pipeline. In a loop call the model itself, `model(x)`, or give "
    "`predict` all rows at once."
)

_LOADER = say(
    "A `DataLoader` fetches item by item. Where the data is in memory, index whole batches instead: "
    "`x[i:i + n]`. Otherwise use more workers: `num_workers=`."
)

_ASKS = say(
    "This line waits for all that the GPU was given so far. In a loop, keep values on the GPU, and read them "
    "after it."
)

_BY_KIND: dict[LimitKind, Sentence] = {
    "compiling": say(
        "Run it again: what was compiled is kept. Changed shapes or Python numbers are compiled again."
    ),
    "waiting": say("Start what it waits for earlier or in parallel, or request less of it."),
    "python": say(
        "Replace the loop with one operation on whole arrays, or use Python's own profiler: "
        "`%%prun` at the top of the cell."
    ),
    "input": say("Prepare data ahead in other threads or processes, or reuse prepared data."),
    "transfer": say("Copy once, before the loop, and bring back only what is needed."),
    "launch": say("Put more into each operation: larger batches, or one compiled function for many steps."),
    "compute": say("It is near this machine's limit: fewer operations or a smaller number type help."),
    "bandwidth": say(
        "It is near this machine's memory bandwidth: fuse operations, or use a smaller number type."
    ),
    "device": say("Add `%%mlc_trace --ops` at the top of the cell to see this time by operation."),
    "native": say("Move this work to the GPU, or let other threads do it ahead of the GPU's work."),
    "memory": say("Use less memory at once: a smaller batch, or `del` for what is no longer needed."),
    "contention": say("Close other programs, or run it again when they are done."),
    "unknown": say("Add `%%mlc_trace --ops` at the top of the cell for details."),
}

#: Kinds of limits that another library's calls may have caused in a cell in which a framework worked.
_NEEDS_A_CALL: frozenset[LimitKind] = frozenset(("input",))

#: Array libraries that are no frameworks. Keras is left out, because it runs on several frameworks.
_OTHER_LIBRARIES = ("numpy", "cupy")


def remedy(cause: Cause, record: Record, parts: Sequence[Part] = ()) -> Sentence | None:
    """Return one thing to do, or None for a cell that failed for another reason than a memory shortage.

    `parts` are the samples of the cause.
    """
    if record.outcome == "error" and cause != "memory":
        return None
    kind = kind_of(cause)
    library = common(parts, _array_library)
    framework = library if library is not None else _only_framework(record)
    found = _by_call(cause, parts, framework, record)
    if found is None and (library is not None or kind not in _NEEDS_A_CALL):
        found = _of_framework(kind, framework, record)
    found = found or _BY_KIND[kind]
    return _TIME_PARTS if is_to_profile(found) and not _can_be_profiled(framework, record) else found


def is_to_profile(advice: Sentence | None) -> bool:
    """Return whether the advice is to profile the cell."""
    return advice is not None and "`%%mlc_trace --ops`" in advice


def _by_call(cause: Cause, parts: Sequence[Part], framework: str | None, record: Record) -> Sentence | None:
    """Return the advice that fits what was called, or None if the cause alone decides."""
    if cause == "earlier":
        return say("Earlier cells launched that work: their receipts show it.")
    if cause == "gpu" and mostly(parts, calls.asks):
        return _of_framework("values", framework, record) or _ASKS
    if cause == "importing":
        return say("Modules are imported only once: the next run of this cell will not wait for that.")
    if cause in ("input", "launch", "python") and mostly(parts, _predicts):
        return _PREDICT
    if cause == "input" and mostly(parts, lambda part: part.doing == "loader"):
        return _of_framework("loader", framework, record) or _LOADER
    if cause == "python" and common(parts, _of_a_library) is not None:
        return _PROFILE_PYTHON
    return None


def _predicts(part: Part) -> bool:
    """Return True if the user's line calls `predict` of a Keras model."""
    call = part.line_call
    return call is not None and call.text.endswith(".predict") and (call.module or "").startswith("keras")


def _of_a_library(part: Part) -> str | None:
    """Return the module of the call on the user's line if it belongs to a library."""
    call = part.line_call
    if call is None or not call.text or call.module in (None, "builtins", "__main__"):
        return None
    return call.module


def _array_library(part: Part) -> str | None:
    """Return the framework, or another array library, of the innermost call or of the user's line."""
    for call in (part.call, part.line_call):
        root = "" if call is None or call.module is None else call.module.partition(".")[0]
        for library in (*registry.FRAMEWORKS, *_OTHER_LIBRARIES):
            if root.startswith(library):  # jaxlib is JAX's
                return library
    return None


def _only_framework(record: Record) -> str | None:
    """Return the framework that worked in the cell, or None if there were several, or none is known."""
    worked = _worked(record)
    return next(iter(worked)) if len(worked) == 1 else None


def _worked(record: Record) -> set[str]:
    return {one.framework for one in record.device.ran_on or ()} | set(record.device.only)


def _of_framework(kind: str, framework: str | None, record: Record) -> Sentence | None:
    """Return a framework's own advice for a kind of limit, on the kind of device where it worked."""
    if framework not in registry.FRAMEWORKS:
        return None
    remedies = registry.framework(framework).remedies
    return remedies.get(f"{kind} on {_device_kind(framework, record)}") or remedies.get(kind)


def _device_kind(framework: str, record: Record) -> str | None:
    """Return the kind of device on which a framework worked, that of a GPU if it used one."""
    kinds = [one.kind for one in record.device.ran_on or () if one.framework == framework]
    only = "cpu" if record.device.only.get(framework, "").startswith("cpu:") else None
    return next((kind for kind in kinds if kind != "cpu"), next(iter(kinds), only))


def _can_be_profiled(framework: str | None, record: Record) -> bool:
    """Return True if the framework, or one of several that worked in the cell, has a profiler."""
    names = _worked(record) if framework is None else {framework}
    return any(registry.framework(name).profiler is not None for name in names & set(registry.FRAMEWORKS))
