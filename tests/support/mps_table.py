"""A small table of MPS kernels, read from the native_functions.yaml of the installed PyTorch."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, NamedTuple

from jupyter_mlgpu.record.sentence import Sentence, say

_WHOLE = {"convolution": "_mps_convolution", "convolution_backward": "mps_convolution_backward"}


class SmallVerdict(NamedTuple):
    kind: Any
    source: Sentence
    note: Sentence | None = None


class SmallTable:
    """Kernels and composites by the file; `kernels` are added, as a later version might have them."""

    def __init__(
        self, entries: dict[str, tuple[set[str], str | None]], kernels: frozenset[str] = frozenset()
    ):
        self._entries = entries
        self._kernels = kernels

    def verdict(
        self, operation: str, dtypes: frozenset[str], ranks: frozenset[int] = frozenset()
    ) -> SmallVerdict:
        if dtypes & {"float64", "complex128"}:
            return SmallVerdict("type", say("MPS has no float64"))
        source = say("native_functions.yaml")
        name = _WHOLE.get(operation, operation)
        if name in self._kernels:
            return SmallVerdict("gpu", source)
        if name not in self._entries:
            return SmallVerdict("unknown", source)
        keys, delegate = self._entries[name]
        if delegate is not None:
            keys = keys - {"CompositeImplicitAutograd"} | self._entries[delegate][0]
        if name in ("embedding_renorm_", "col2im"):
            return SmallVerdict("fallback", say("MPSFallback.mm"))
        if "MPS" in keys:
            return SmallVerdict("gpu", source)
        composite = any(one.startswith("Composite") for one in keys)
        return SmallVerdict("composite" if composite else "missing", source)


@functools.cache
def installed(*kernels: str) -> SmallTable:
    """Return the table of the installed version, with some kernels more."""
    import torch
    import yaml

    file = Path(torch.__file__).parent.parent / "torchgen/packaged/ATen/native/native_functions.yaml"
    entries: dict[str, tuple[set[str], str | None]] = {}
    for one in yaml.load(file.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        keys = {
            key.strip()
            for keys in one.get("dispatch") or ["CompositeImplicitAutograd"]
            for key in keys.split(",")
        }
        entries[one["func"].split("(")[0]] = keys, one.get("structured_delegate")
        for made in (one.get("autogen") or "").split(","):
            entries.setdefault(made.strip(), ({"CompositeExplicitAutograd"}, None))
    return SmallTable(entries, frozenset(kernels))
