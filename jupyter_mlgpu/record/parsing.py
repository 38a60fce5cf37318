"""Parses Python code in a thread of ours without making a parse in another thread fail.

In Python 3.11 before 3.11.8 and in 3.12 before 3.12.2, all threads share the counter of the recursion depth
(python/cpython#106905). A garbage collection inside a parse can run code that releases the GIL. If a second
thread parses then, the first one's parse fails with a SystemError: IPython could not format a traceback.
"""

from __future__ import annotations

import ast
import sys
from types import FrameType

from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.other_threads import FramesOfOtherThreads

SHARES_ITS_DEPTH = sys.version_info < (3, 11, 8) or (3, 12) <= sys.version_info < (3, 12, 2)
#: Seconds that another thread's parse may take, which is a garbage collection inside it.
_LONGEST_WAIT = 0.2
_BETWEEN_LOOKS = 0.002
#: Frames that a collection may have above the parse.
_DEEPEST = 50
#: IPython's own function that parses.
_IPYTHON_PARSES = "ast_parse"


def parse(code: str) -> ast.Module:
    """Return the syntax tree of `code`.

    Raises what `ast.parse` raises, and a ValueError if another thread did not end its own parse in time.
    """
    if not SHARES_ITS_DEPTH:
        return ast.parse(code)
    until = real_time.monotonic() + _LONGEST_WAIT
    while real_time.monotonic() < until:
        # No collection begins in this block, so no thread releases the GIL inside a parse, ours included.
        with FramesOfOtherThreads() as frames:
            if not any(map(_is_parsing, frames.values())):
                return ast.parse(code)
        real_time.sleep(_BETWEEN_LOOKS)
    raise ValueError("Another thread is still parsing.")


def _is_parsing(frame: FrameType) -> bool:
    outer: FrameType | None = frame
    for _ in range(_DEEPEST):
        if outer is None:
            return False
        if outer.f_code is ast.parse.__code__ or outer.f_code.co_name == _IPYTHON_PARSES:
            return True
        outer = outer.f_back
    return False
