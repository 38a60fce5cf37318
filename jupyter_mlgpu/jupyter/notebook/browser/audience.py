"""Records if a client has asked for our output in this kernel (docs/adr/0027-who-hears-us.md).

A profile can load the extension into shells whose clients know nothing of it: a converter, a grader, a test
suite. Output that they have not asked for would mix with theirs. So until a client asks, no receipt is shown
and nothing is pushed. Cells are measured all the same, and a client that asks later gets all of it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from jupyter_mlgpu.jupyter.notebook.cell.cell_code import addresses_package
from jupyter_mlgpu.jupyter.notebook.magics.magic_ownership import magic_ownership

#: Environment variable that asks for output in every kernel, for users who load the extension from a profile.
#: `all` also asks for the receipts of the shortest cells (`receipt_threshold.py`).
SETTING = "JUPYTER_MLGPU_RECEIPTS"


class Audience:
    """State of one shell: `output_requested` is True once a client has asked for our output."""

    def __init__(self, shell: Any, environment: Mapping[str, str] = os.environ) -> None:
        """Set the initial state: loading during a request, such as a cell, counts as asking."""
        self.output_requested = bool(environment.get(SETTING)) or bool(request_of(shell))
        #: True if one of the clients that asked is ours: a page with our front end, or `jupyter mlgpu run`.
        self.known_to_a_client = False
        #: True if a Jupyter server started this kernel for a notebook, which JupyterLab may then show.
        self.on_a_server = bool(environment.get("JPY_SESSION_NAME"))
        self._ours = magic_ownership(shell)
        self._saw_cell_begin = False

    def ask(self) -> None:
        """Record that a page of ours or `jupyter mlgpu run` has asked. May be called from any thread."""
        self.output_requested = self.known_to_a_client = True

    def cell_begins(self, info: Any) -> None:
        """Count a cell that loads the extension or uses our magics as asking; `info` is IPython's."""
        self._saw_cell_begin = True
        if not self.output_requested and addresses_package(info.raw_cell, self._ours):
            self.output_requested = True

    def cell_ended(self, result: Any) -> None:
        """Count a cell in a terminal that loaded the extension, so its begin event came too early for us.

        The lines of a profile end like cells, but are in no history.
        """
        if not self._saw_cell_begin and getattr(getattr(result, "info", None), "store_history", False):
            self.output_requested = True


def request_of(shell: Any) -> Mapping[str, Any]:
    """Return the client's message that the shell is handling; empty if there is none, as in a terminal."""
    try:
        message = shell.parent_header
    except (AttributeError, LookupError):
        return {}
    return message if isinstance(message, Mapping) else {}
