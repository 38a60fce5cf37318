"""The Jupyter side: magics, cell events, messages to browsers, widgets, server extension, shell commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from jupyter_mlgpu.jupyter.notebook.cell.record_stages import EndedCell, NotebookSession
    from jupyter_mlgpu.measure.runtime import Runtime
    from jupyter_mlgpu.record.record import Record

    class Sharing(Protocol):
        """A student's consent to share records, and the sending that follows from it."""

        def run(self, words: str) -> str:
            """Run `%mlc_share WORDS` and return the text to print."""

        def end(self) -> None:
            """Stop sending."""


# Functions of higher layers that this package calls. `pipeline.connect` sets them.
#: Enriches, stores and shows the record of a cell that has ended.
cell_ended: Callable[[Record, EndedCell, NotebookSession], None]
#: Returns True if the notebook is one of the lessons.
in_a_lesson: Callable[[], bool]
#: Creates the object behind `%mlc_share` in a shell.
share_command: Callable[[Runtime, Any], Sharing]
#: Subcommands of `jupyter mlgpu` from `teach`: name to a function that imports the command's module.
teaching_commands: Mapping[str, Callable[[], ModuleType]]
#: Takes the server's base URL and returns the web handlers of `teach`.
teaching_handlers: Callable[[str], list[tuple[str, Any]]]
