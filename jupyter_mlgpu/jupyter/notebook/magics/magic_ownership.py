"""Tells our magics from a user's own magics that are registered under the same names."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import MethodType
from typing import Any

from jupyter_mlgpu.measure.user_objects import type_module

#: Returns True if a magic is ours; takes it as typed, such as `%%mlc_race` or `%mlc_trace`.
IsOurMagic = Callable[[str], bool]


def magic_ownership(shell: Any) -> IsOurMagic:
    """Return the function for this shell. It looks up each magic again, because cells register magics."""
    return partial(_is_ours, shell)


def _is_ours(shell: Any, magic: str) -> bool:
    kind = "cell" if magic.startswith("%%") else "line"
    return registered_by_us(shell.magics_manager.magics[kind].get(magic.lstrip("%")))


def registered_by_us(function: object) -> bool:
    """Return True if a magic's registered function is a method of ours; None stands for no such magic."""
    # Compared by name: the class is imported only with the extension, and again by `%reload_ext`.
    if type(function) is not MethodType:
        return False
    return type_module(type(function.__self__)) == "jupyter_mlgpu.jupyter.notebook.magics.magics"
