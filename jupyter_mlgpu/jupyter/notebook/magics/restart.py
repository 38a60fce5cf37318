"""Shows under a cell that something needs a restart of the kernel, with the data for a button.

JupyterLab's extension shows the button: labextension/src/kernel/restart.ts reads the published data, asks the
user, restarts, calls `prepare` in the fresh kernel and runs the cells again. Other front ends show only the
sentences, which explain how to do it by hand.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from IPython.display import publish_display_data

from jupyter_mlgpu.record.decoding import to_json
from jupyter_mlgpu.record.errors import RestartNeededError

if TYPE_CHECKING:
    from jupyter_mlgpu.jupyter.notebook.browser.messages import RestartHint

MIME_TYPE = "application/vnd.jupyter-mlgpu.restart+json"


def show(error: RestartNeededError) -> None:
    """Publish the sentences as output of the current cell."""
    publish_display_data(bundle(error))  # type: ignore[no-untyped-call]


def bundle(error: RestartNeededError) -> dict[str, Any]:
    """Return the MIME bundle: our own type for the button, HTML and plain text."""
    from jupyter_mlgpu.show.markup import element  # imported here because few devices need a restart

    text = f"{error.sentence}\n{error.by_hand}"
    return {
        MIME_TYPE: to_json(hint(error)),
        "text/html": str(element("div", text, style="white-space: pre-wrap")),
        "text/plain": text,
    }


def hint(error: RestartNeededError) -> RestartHint:
    """Return the data for the button."""
    return {"sentence": error.sentence, "by_hand": error.by_hand, "verbose": error.verbose}


def prepare(words: str) -> None:
    """Do what `%mlc_trace verbose WORDS` does, in a kernel in which no cell has run yet.

    The notebook itself loads the extension, so its cells are traced as before. Raises UsageError for words
    that the magic does not know.
    """
    from jupyter_mlgpu.explain.logs.verbose import of_this_process

    of_this_process().command(words, sys.modules)
