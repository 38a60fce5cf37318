"""Where people meet it: magics, events, channel, controls, the server's extension, commands of the shell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from jupyter_mlgpu.jupyter.notebook.cell.record_stages import EndedCell, NotebookSession
    from jupyter_mlgpu.measure.runtime import Runtime
    from jupyter_mlgpu.record.record import Record

    class Sharing(Protocol):
        """A student's consent, and what it sets going."""

        def run(self, words: str) -> str:
            """`%mlc_share WORDS`; returns what to print."""

        def end(self) -> None:
            """Send nothing more."""


# What this room needs of those above it. Set by `pipeline.connect`.
#: Enriches, stores and shows the record of a cell that has ended.
cell_ended: Callable[[Record, EndedCell, NotebookSession], None]
#: Whether the notebook is one of the lessons.
in_a_lesson: Callable[[], bool]
#: Makes what is behind `%mlc_share` in a shell.
share_command: Callable[[Runtime, Any], Sharing]
#: Commands of `teach` for `jupyter mlgpu`: the name of each, and a function that loads its module.
teaching_commands: Mapping[str, Callable[[], ModuleType]]
#: Returns the handlers of `teach` for the server's web application, which is at a base URL.
teaching_handlers: Callable[[str], list[tuple[str, Any]]]
