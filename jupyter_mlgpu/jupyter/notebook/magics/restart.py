"""What only a restart of the kernel brings: said under the cell, with what a button needs beside it.

JupyterLab's extension offers the button (labextension/src/kernel/restart.ts reads what is published here),
asks, restarts, calls `prepare` in the fresh kernel and runs the cells again. Anywhere else the sentences
stand alone and say how to do it by hand.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from IPython.display import publish_display_data

from jupyter_mlgpu.record.decoding import to_json
from jupyter_mlgpu.record.errors import RestartNeededError
from jupyter_mlgpu.show.markup import element

if TYPE_CHECKING:
    from jupyter_mlgpu.jupyter.notebook.browser.messages import RestartHint

MIME_TYPE = "application/vnd.jupyter-mlgpu.restart+json"


def show(error: RestartNeededError) -> None:
    """Publish the sentences as the present cell's output."""
    publish_display_data(bundle(error))  # type: ignore[no-untyped-call]


def bundle(error: RestartNeededError) -> dict[str, Any]:
    """The MIME bundle: our own type for the button, HTML and plain text beside it."""
    text = f"{error.sentence}\n{error.by_hand}"
    return {
        MIME_TYPE: to_json(hint(error)),
        "text/html": str(element("div", text, style="white-space: pre-wrap")),
        "text/plain": text,
    }


def hint(error: RestartNeededError) -> RestartHint:
    """What a button needs to know."""
    return {"sentence": error.sentence, "by_hand": error.by_hand, "verbose": error.verbose}


def prepare(words: str) -> None:
    """Do what `%mlc_trace verbose WORDS` does, in a kernel in which no cell has run yet.

    The extension itself is left for the notebook to load, so that its cells are traced as they were
    before. Raises UsageError for words that the magic does not know.
    """
    from jupyter_mlgpu.explain.logs.verbose import of_this_process

    of_this_process().command(words, sys.modules)
