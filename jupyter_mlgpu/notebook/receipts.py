"""Show a record under its cell.

`publish_display_data` waits twice until ipykernel's sending thread has sent what was printed, some tenths of
a millisecond each. So that thread is asked to publish the receipt itself: it does one thing after the other,
first what was printed, and the kernel waits for it once more before it answers.
"""

from __future__ import annotations

import contextvars
import sys
from typing import Any

from IPython.core.getipython import get_ipython
from IPython.display import publish_display_data

from jupyter_mlgpu.notebook.audience import request_of
from jupyter_mlgpu.record import Record
from jupyter_mlgpu.render.bundle import bundle


def show(record: Record, *, last: bool = False) -> None:
    """Publish the receipt as the present cell's output; `last`: nothing of the cell comes after it.

    Only then may it be published later: what is printed next would come before it. A client that asked for
    silence gets none.
    """
    shell: Any = get_ipython()
    if request_of(shell).get("content", {}).get("silent"):
        return
    kernel = getattr(shell, "kernel", None)
    if getattr(kernel, "engine_id", None) is not None:
        from jupyter_mlgpu.notebook import engine

        publish_display_data(engine.line(record))  # type: ignore[no-untyped-call]
        return
    data = bundle(record)
    sender = getattr(kernel, "iopub_thread", None)
    if not last or sender is None or not _plain(shell.display_pub):
        publish_display_data(data)  # type: ignore[no-untyped-call]
        return
    # ipykernel remembers in a context variable which cell is running.
    context = contextvars.copy_context()
    sender.schedule(lambda: context.run(_publish, data))


def _plain(publisher: Any) -> bool:
    """Whether nobody wants to see what is published before it is sent, nor what is printed."""
    from ipykernel.iostream import OutStream
    from ipykernel.zmqshell import ZMQDisplayPublisher

    return (
        type(publisher) is ZMQDisplayPublisher
        and not getattr(publisher, "_hooks", True)  # this thread's, with ipykernel 6.31 and 7.4
        and isinstance(sys.stdout, OutStream)
        and isinstance(sys.stderr, OutStream)
    )


def _publish(data: dict[str, Any]) -> None:
    try:
        publish_display_data(data)  # type: ignore[no-untyped-call]
    except Exception as error:
        sys.stderr.write(
            f"jupyter_mlgpu could not show this cell's receipt ({type(error).__name__}: {error}).\n"
        )
