"""Whether a magic is ours: a user may register one of their own under the same name, and means that one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import MethodType
from typing import Any

from jupyter_mlgpu.measure.user_objects import type_module

#: Tells of a magic as it is typed, such as `%%mlc_race` or `%mlc_trace`, whether it is ours.
IsOurMagic = Callable[[str], bool]


def magic_ownership(shell: Any) -> IsOurMagic:
    """What tells it in this shell: it looks each time, for cells register magics."""
    return partial(_is_ours, shell)


def _is_ours(shell: Any, magic: str) -> bool:
    kind = "cell" if magic.startswith("%%") else "line"
    return registered_by_us(shell.magics_manager.magics[kind].get(magic.lstrip("%")))


def registered_by_us(function: object) -> bool:
    """Whether what IPython calls for a magic is a method of ours; None, for no such magic, is not."""
    # By name, for the class is loaded with the extension alone, and anew by who reloads modules.
    if type(function) is not MethodType:
        return False
    return type_module(type(function.__self__)) == "jupyter_mlgpu.jupyter.notebook.magics.magics"
