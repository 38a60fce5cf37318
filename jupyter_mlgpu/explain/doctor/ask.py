"""A program for a separate process: imports one framework, lists its devices, computes a small product.

`python -m jupyter_mlgpu.explain.doctor.ask NAME MODULE DESCRIBED`, with a framework's line in the registry,
prints the mark below and one line of JSON as its last line. The caller handles failures before that, such as
a crash.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable
from typing import Any

from jupyter_mlgpu.measure.frameworks import registry

#: Marks the answer among the framework's own output.
MARK = "jupyter_mlgpu-answer:"
#: Size of two square matrices of ones, and therefore the value of every element of their product.
SIZE = 64


def main(framework: str, *registered: str) -> None:
    """Test a framework and print the answer; `registered` is its line in the registry (`Registered`)."""
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
        element = compute()
    except Exception:
        return {"computed": False, "compute_error": traceback.format_exc()}
    is_right = element == SIZE
    return {"computed": is_right, "compute_error": None, "product": None if is_right else f"{element}"}


def _version(framework: str) -> str | None:
    version = getattr(sys.modules[registry.FRAMEWORKS[framework].module], "__version__", None)
    return None if version is None else str(version)


if __name__ == "__main__":
    main(*sys.argv[1:])
