"""Whether anybody has asked to hear of us in this kernel (docs/adr/0027-who-hears-us.md).

A profile can load us into shells whose clients know nothing of us: a converter, a grader, a test suite. What
they have not asked for would stand among their outputs. So until somebody asks, no receipt is shown and
nothing is pushed. Cells are measured all the same, and whoever asks later is told all of it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from jupyter_mlgpu.jupyter.notebook.cell.cell_code import addresses_package
from jupyter_mlgpu.jupyter.notebook.magics.magic_ownership import magic_ownership

#: Set to anything, it asks for every kernel: for who loads us from a profile, and has no page of ours.
SETTING = "JUPYTER_MLGPU_RECEIPTS"


class Audience:
    """Of one shell."""

    def __init__(self, shell: Any, environment: Mapping[str, str] = os.environ) -> None:
        """Made while we are loaded: by a request, such as a cell, or before there was one, by a profile."""
        self.asked = bool(environment.get(SETTING)) or bool(request_of(shell))
        #: Of those who asked, one knows what we are: a page of ours, or `jupyter mlgpu run`.
        self.known_to_a_client = False
        #: A Jupyter server started this kernel for a notebook, so that JupyterLab may show it.
        self.on_a_server = bool(environment.get("JPY_SESSION_NAME"))
        self._ours = magic_ownership(shell)
        self._hears_of_cells = False

    def ask(self) -> None:
        """Somebody wants to hear: a page of ours, or `jupyter mlgpu run`. From any thread."""
        self.asked = self.known_to_a_client = True

    def cell_begins(self, info: Any) -> None:
        """A cell that loads us asks, also where a profile has done it before; `info` is IPython's."""
        self._hears_of_cells = True
        if not self.asked and addresses_package(info.raw_cell, self._ours):
            self.asked = True

    def cell_ended(self, result: Any) -> None:
        """In a terminal, the cell that has loaded us is the one that began before we heard of cells.

        The lines of a profile end like cells, and are in no history.
        """
        if not self._hears_of_cells and getattr(getattr(result, "info", None), "store_history", False):
            self.asked = True


def request_of(shell: Any) -> Mapping[str, Any]:
    """The client's message that the shell is at work on; empty where there is none, as in a terminal."""
    try:
        message = shell.parent_header
    except (AttributeError, LookupError):
        return {}
    return message if isinstance(message, Mapping) else {}
