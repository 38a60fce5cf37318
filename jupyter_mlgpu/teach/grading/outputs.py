"""What a student's cell has shown, before a browser shows it: texts and pictures, bounded, nothing else.

HTML, JavaScript and SVG are left out: in the teacher's page they could read the solutions, and change grades.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any

#: Characters of all outputs of a cell, and outputs; base64 of a picture.
MOST = 100_000
MOST_OUTPUTS = 100
MOST_PICTURE = 2_000_000

_STARTS = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
_CUT = "\n… (the rest was left out)"


def cleaned(told: Any) -> list[dict[str, Any]]:
    """Outputs of notebook format 4 from what a student's process says of a cell."""
    kept: list[dict[str, Any]] = []
    left = MOST
    for one in told[:MOST_OUTPUTS] if isinstance(told, list) else []:
        made = _output(one, left) if isinstance(one, dict) and left > 0 else None
        if made is not None:
            kept.append(made)
            left -= sum(map(len, _texts_of(made)))
    return kept


def _output(told: dict[str, Any], left: int) -> dict[str, Any] | None:
    kind = told.get("output_type")
    if kind == "stream":
        # Always standard output: nbgrader takes an output on standard error for a failed test.
        return stream(_text(told.get("text"), left))
    if kind == "error":
        lines = told.get("traceback")
        return failure(
            _text(told.get("ename"), 200),
            _text(told.get("evalue"), 2000),
            [_text(line, 2000) for line in lines[:100]] if isinstance(lines, list) else None,
        )
    data = told.get("data")
    if kind not in ("display_data", "execute_result") or not isinstance(data, dict):
        return None
    shown = {}
    if isinstance(data.get("text/plain"), str):
        shown["text/plain"] = _text(data["text/plain"], left)
    for name, start in _STARTS.items():
        picture = data.get(name)
        if isinstance(picture, str) and len(picture) <= MOST_PICTURE and _is_picture(picture, start):
            shown[name] = picture.replace("\n", "")
    # As something shown, never as a result: nbgrader reads points from a test's result.
    return {"output_type": "display_data", "data": shown, "metadata": {}} if shown else None


def _is_picture(text: str, start: bytes) -> bool:
    try:
        return base64.b64decode(text.replace("\n", ""), validate=True).startswith(start)
    except (binascii.Error, ValueError):
        return False


def stream(text: str) -> dict[str, Any]:
    """A printed text as an output."""
    return {"output_type": "stream", "name": "stdout", "text": text}


def failure(name: str, said: str, traceback: list[str] | None = None) -> dict[str, Any]:
    """An error as an output."""
    return {
        "output_type": "error",
        "ename": name,
        "evalue": said,
        "traceback": traceback or [f"{name}: {said}"],
    }


def printed(told: Any) -> str:
    """All that was printed among such outputs."""
    return "".join(one["text"] for one in cleaned(told) if one["output_type"] == "stream")


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
