"""An error in a learner's answer as a sentence: its line, and the shapes that did not match."""

from __future__ import annotations

import linecache
import re
from typing import Any

from jupyter_mlgpu.record.sentence import Sentence, say

#: Words with which NumPy, TensorFlow, JAX and PyTorch report that two shapes do not match.
_SHAPES = re.compile(
    r"broadcast|matmul|not aligned|incompatible shapes|size-incompatible|must match the size"
    r"|cannot be multiplied|cannot reshape|dimensions must be equal|inhomogeneous",
    re.IGNORECASE,
)
_SHAPE = re.compile(r"(?<!\w)[(\[]((?:\d+, ?)*\d+|\d+,)[)\]]|\b(\d+(?:x\d+)+)\b")


def error_sentence(name: str, answer: Any, error: Exception) -> Sentence:
    """Return the error as a sentence, with the line of the answer in which it happened."""
    text = next(iter(str(error).strip().splitlines()), "")
    line = _line_of(answer, error)
    if _SHAPES.search(text):
        return _shapes(name, text, line)
    kind = type(error).__name__
    if not line:
        return say("{name} stopped with {error}: {text}", name=name, error=kind, text=text)
    return say(
        "{name} stopped with {error}: {text} (in the line {line})",
        name=name,
        error=kind,
        text=text,
        line=repr(line),
    )


def _shapes(name: str, text: str, line: str) -> Sentence:
    """Return a simpler sentence on shapes than the frameworks do."""
    found = [one[0] or one[1].replace("x", ", ") for one in _SHAPE.findall(text)]
    shapes = " / ".join(f"[{one.rstrip(',')}]" for one in dict.fromkeys(found))
    where = repr(line) if line else name
    if not shapes:
        return say("{name} stopped: the shapes in {where} do not fit each other.", name=name, where=where)
    return say(
        "{name} stopped: the shapes in {where} do not fit each other: {shapes}.",
        name=name,
        where=where,
        shapes=shapes,
    )


def _line_of(answer: Any, error: Exception) -> str:
    code = getattr(answer, "__code__", None)
    line, trace = "", error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code is code and code is not None:
            line = linecache.getline(code.co_filename, trace.tb_lineno).strip()
        trace = trace.tb_next
    return line
