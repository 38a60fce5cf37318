"""Runs in a process of its own: imports one framework, lists its devices, computes a small product.

`python -m jupyter_mlgpu.explain.doctor.ask NAME MODULE DESCRIBED`, with a framework's line in the registry,
prints one line of JSON after the mark below, as the last line. What happens before that, a crash included, is
for the one who asked to see.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable
from typing import Any

from jupyter_mlgpu.measure.frameworks import registry

#: Stands before the answer, among whatever the framework prints.
MARK = "jupyter_mlgpu-answer:"
#: Square matrices of ones of this size: every element of their product is this number.
SIZE = 64


def main(framework: str, *registered: str) -> None:
    """Ask, and print the answer. `registered` is the framework's line in the registry (`Registered`)."""
    answer: dict[str, Any] = {"imported": False, "error": None}
    try:
        registry.register(framework, *registered)
        devices, compute = registry.part(registry.framework(framework).sample)(SIZE)
        answer |= {"imported": True, "devices": devices, "version": _version(framework)}
        answer |= _computed(compute)
    except BaseException:
        answer["error"] = traceback.format_exc()
    print(f"\n{MARK}{json.dumps(answer)}", flush=True)


def _computed(compute: Callable[[], float]) -> dict[str, Any]:
    try:
        found = compute()
    except Exception:
        return {"computed": False, "compute_error": traceback.format_exc()}
    right = found == SIZE
    return {"computed": right, "compute_error": None, "product": None if right else f"{found}"}


def _version(framework: str) -> str | None:
    version = getattr(sys.modules[registry.FRAMEWORKS[framework].module], "__version__", None)
    return None if version is None else str(version)


if __name__ == "__main__":
    main(*sys.argv[1:])
