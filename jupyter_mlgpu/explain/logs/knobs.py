"""The environment variables that control how much the frameworks log, from `knobs.toml`. MLX has none.

verbose.py sets them for `%mlc_trace verbose`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True)
class Knob:
    """One environment variable.

    `does` is one sentence. `values` says in words what `pattern` accepts, and `example` is one such value.
    `framework` is the module that reads it ("fork": Apple's TensorFlow for ML Compute, which never runs in
    this process), and `also` is another one, if any. `read` is the time of reading: "import" (once, while the
    framework is imported), "first use" (once, later) or "always". `instead` is code that has the same effect
    after the import, if any.
    """

    name: str
    does: str
    values: str
    pattern: str
    example: str
    framework: str
    read: Literal["import", "first use", "always"]
    source: str
    also: str = ""
    instead: str = ""


_FILE = tomllib.loads(Path(__file__).with_name("knobs.toml").read_text(encoding="utf-8"))

#: All known variables, by name.
KNOBS: Mapping[str, Knob] = {one["name"]: Knob(**one) for one in _FILE["knobs"]}

FRAMEWORKS: Mapping[str, str] = {
    "tensorflow": "TensorFlow",
    "torch": "PyTorch",
    "jax": "JAX",
    "fork": "Apple's fork",
    "nccl": "NCCL",
}
