"""Filter for the outputs of a student's cell: bounded texts and pictures, nothing else.

HTML, JavaScript and SVG are left out: in the teacher's page they could read the solutions and change grades.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

#: Most characters of all outputs of a cell, most outputs, and most base64 characters of a picture.
MOST = 100_000
MOST_OUTPUTS = 100
MOST_PICTURE = 2_000_000

_STARTS = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
_CUT = "\n… (the rest was left out)"


def clean(raw: Any) -> list[dict[str, Any]]:
    """Return outputs in notebook format 4 from the untrusted outputs of a student's process."""
    kept: list[dict[str, Any]] = []
    left = MOST
    for one in raw[:MOST_OUTPUTS] if isinstance(raw, list) else []:
        output = _output(one, left) if isinstance(one, dict) and left > 0 else None
        if output is not None:
            kept.append(output)
            left -= sum(map(len, _texts_of(output)))
    return kept


def _output(raw: dict[str, Any], left: int) -> dict[str, Any] | None:
    kind = raw.get("output_type")
    if kind == "stream":
        # Always standard output: nbgrader takes an output on standard error for a failed test.
        return stream(_text(raw.get("text"), left))
    if kind == "error":
        lines = raw.get("traceback")
        return failure(
            _text(raw.get("ename"), 200),
            _text(raw.get("evalue"), 2000),
            [_text(line, 2000) for line in lines[:100]] if isinstance(lines, list) else None,
        )
    data = raw.get("data")
    if kind not in ("display_data", "execute_result") or not isinstance(data, dict):
        return None
    kept = {}
    if isinstance(data.get("text/plain"), str):
        kept["text/plain"] = _text(data["text/plain"], left)
    for name, start in _STARTS.items():
        picture = data.get(name)
        if isinstance(picture, str) and len(picture) <= MOST_PICTURE and _is_picture(picture, start):
            kept[name] = picture.replace("\n", "")
    # Always displayed data, never a result: nbgrader reads points from a test's result.
    return {"output_type": "display_data", "data": kept, "metadata": {}} if kept else None


def _is_picture(text: str, start: bytes) -> bool:
    try:
        return base64.b64decode(text.replace("\n", ""), validate=True).startswith(start)
    except (binascii.Error, ValueError):
        return False


def stream(text: str) -> dict[str, Any]:
    """Return a printed text as an output."""
    return {"output_type": "stream", "name": "stdout", "text": text}


def failure(name: str, message: str, traceback: list[str] | None = None) -> dict[str, Any]:
    """Return an error as an output."""
    return {
        "output_type": "error",
        "ename": name,
        "evalue": message,
        "traceback": traceback or [f"{name}: {message}"],
    }


def printed_text(raw: Any) -> str:
    """Return all text that was printed, from untrusted outputs."""
    return "".join(one["text"] for one in clean(raw) if one["output_type"] == "stream")


def _text(value: Any, most: int) -> str:
    text = value if isinstance(value, str) else ""
    text = text.encode(errors="replace").decode()  # half a surrogate could not be saved
    return text if len(text) <= most else text[:most] + _CUT


def _texts_of(output: dict[str, Any]) -> list[str]:
    return [
        str(output.get("text", "")),
        str(output.get("data", {}).get("text/plain", "")),
        *output.get("traceback", []),
    ]
