"""Registers our magics and input transformers in a shell while the extension is loaded.

Each function is a context manager. At its end the shell's tables are as before, even if registering failed
half-way. Entries that the user has added meanwhile stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from jupyter_mlgpu.jupyter.notebook.magics.magic_ownership import registered_by_us

if TYPE_CHECKING:
    from IPython.core.magic import Magics

Transformer = Callable[[list[str]], list[str]]


@contextmanager
def registered_magics(shell: Any, magics: Magics) -> Iterator[None]:
    """Register our magics; the user's own magics of the same names are restored at the end."""
    tables = shell.magics_manager.magics
    before = {kind: {name: tables[kind].get(name) for name in names} for kind, names in magics.magics.items()}
    try:
        shell.register_magics(magics)
        yield
    finally:
        for kind, names in before.items():
            for name, function in names.items():
                if registered_by_us(tables[kind].get(name)):
                    del tables[kind][name]
                    if function is not None:
                        tables[kind][name] = function
        shell.magics_manager.registry.pop(type(magics).__name__, None)
        if magics in shell.configurables:
            shell.configurables.remove(magics)


@contextmanager
def transformed_input(shell: Any, transformers: Sequence[Transformer]) -> Iterator[None]:
    """Make IPython call these transformers with the lines of each cell before it parses them."""
    table = shell.input_transformers_cleanup
    try:
        table.extend(transformers)
        yield
    finally:
        for transformer in transformers:
            if transformer in table:
                table.remove(transformer)
