"""Show a record under its cell.

`publish_display_data` waits twice until ipykernel's sending thread has sent what was printed, some tenths of
a millisecond each. So that thread is asked to publish the receipt itself: it does one thing after the other,
first what was printed, and the kernel waits for it once more before it answers.
"""

from __future__ import annotations

import contextvars
import sys
from collections import OrderedDict
from typing import Any

from IPython.core.getipython import get_ipython
from IPython.display import publish_display_data

from jupyter_mlgpu.jupyter.notebook.audience import request_of
from jupyter_mlgpu.record.record import STILL_READING, Record
from jupyter_mlgpu.show.receipts.bundle import bundle

#: Receipts that do not have all their lines yet, and the cell that each belongs to; so many at most.
_unfinished: OrderedDict[tuple[str, int], contextvars.Context] = OrderedDict()
_MOST_UNFINISHED = 100


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
        from jupyter_mlgpu.jupyter.notebook import engine

        publish_display_data(engine.line(record))  # type: ignore[no-untyped-call]
        return
    data = bundle(record)
    # ipykernel remembers in a context variable which cell is running.
    context = contextvars.copy_context()
    named: dict[str, Any] = {}
    if STILL_READING in record.notes:
        named = {"transient": _name(record)}
        _unfinished[record.key] = context
        while len(_unfinished) > _MOST_UNFINISHED:
            _unfinished.popitem(last=False)
    sender = getattr(kernel, "iopub_thread", None)
    if not last or sender is None or not _plain(shell.display_pub):
        publish_display_data(data, **named)  # type: ignore[no-untyped-call]
        return
    sender.schedule(lambda: context.run(_publish, data, named))


def show_again(record: Record) -> None:
    """Put a receipt that has all its lines now in the place of the one that was shown; from any thread."""
    context = _unfinished.pop(record.key, None)
    if context is None:
        return
    data = bundle(record)
    kernel: Any = getattr(get_ipython(), "kernel", None)
    sender = getattr(kernel, "iopub_thread", None)
    if sender is not None:
        sender.schedule(lambda: context.run(_publish, data, {"transient": _name(record), "update": True}))


def _name(record: Record) -> dict[str, str]:
    run, sequence = record.key
    return {"display_id": f"jupyter_mlgpu-{run}-{sequence}"}


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


def _publish(data: dict[str, Any], named: dict[str, Any]) -> None:
    try:
        publish_display_data(data, **named)  # type: ignore[no-untyped-call]
    except Exception as error:
        sys.stderr.write(
            f"jupyter_mlgpu could not show this cell's receipt ({type(error).__name__}: {error}).\n"
        )
