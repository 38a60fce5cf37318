"""What is entered into a shell's own tables while we are loaded, and out of them again.

Each is for a `with` statement, at whose end the tables are as they were, also where entering failed half-way.
What the user has put there meanwhile stays.
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
def registered_magics(shell: Any, ours: Magics) -> Iterator[None]:
    """IPython knows our magics; a user's own of the same names come back afterwards."""
    tables = shell.magics_manager.magics
    before = {kind: {name: tables[kind].get(name) for name in names} for kind, names in ours.magics.items()}
    try:
        shell.register_magics(ours)
        yield
    finally:
        for kind, names in before.items():
            for name, function in names.items():
                if registered_by_us(tables[kind].get(name)):
                    del tables[kind][name]
                    if function is not None:
                        tables[kind][name] = function
        shell.magics_manager.registry.pop(type(ours).__name__, None)
        if ours in shell.configurables:
            shell.configurables.remove(ours)


@contextmanager
def transformed_input(shell: Any, transformers: Sequence[Transformer]) -> Iterator[None]:
    """IPython hands the lines of each cell to these before it reads them."""
    table = shell.input_transformers_cleanup
    try:
        table.extend(transformers)
        yield
    finally:
        for transformer in transformers:
            if transformer in table:
                table.remove(transformer)
