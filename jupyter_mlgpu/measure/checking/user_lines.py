"""Finds the line of the user's code that called an operation."""

from __future__ import annotations

import functools
import sysconfig
from pathlib import Path
from types import FrameType

from msgspec import Struct

import jupyter_mlgpu
from jupyter_mlgpu.record.other_threads import FramesOfOtherThreads

_FOLDERS = tuple(
    str(Path(folder)) + "/"
    for folder in {
        *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
        str(Path(jupyter_mlgpu.__file__).parent),
    }
)


class CalledAt(Struct, frozen=True):
    """A line of the user's code: its file, as Python names it, and its number."""

    file: str
    number: int


@functools.lru_cache(maxsize=4096)
def is_library(file: str) -> bool:
    """Return True for the file of a library, of Python or of this package."""
    return file.startswith(("<frozen", "<string>", "<eval_with_key", *_FOLDERS)) or "/site-packages/" in file


def called_at(frame: FrameType | None) -> CalledAt | None:
    """Return the innermost line of the user's code at or above a frame."""
    while frame is not None and is_library(frame.f_code.co_filename):
        frame = frame.f_back
    return None if frame is None else CalledAt(frame.f_code.co_filename, frame.f_lineno)


def called_by(thread: int) -> CalledAt | None:
    """Return the line of the user's code that a thread is at: it waits there for autograd's own thread."""
    with FramesOfOtherThreads() as frames:
        return called_at(frames.get(thread))
