"""Shows a record's receipt under its cell."""

from __future__ import annotations

import contextvars
import sys
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, TextIO

from IPython.core.getipython import get_ipython
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import publish_display_data

from jupyter_mlgpu.jupyter.notebook.browser.audience import request_of
from jupyter_mlgpu.measure.frameworks.imports import module
from jupyter_mlgpu.measure.guarded import words
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.stderr import say_on_stderr
from jupyter_mlgpu.show.receipts.bundle import bundle

#: Receipts that are not complete yet, and the context of the cell that each belongs to.
_unfinished: OrderedDict[tuple[str, int], contextvars.Context] = OrderedDict()
_MOST_UNFINISHED = 100
#: Context of the newest cell. nbclient and tools built on it accept an update only while that cell runs.
_newest: contextvars.Context | None = None


def cell_begins() -> None:
    """Note that a cell begins in this thread: receipts that are updated belong to it from now on."""
    global _newest
    if _unfinished:
        _newest = contextvars.copy_context()


def show(record: Record, *, streams: Sequence[TextIO | None] = (), flushed: bool = False) -> None:
    """Publish the receipt as output of the current cell.

    A client that sent a silent request gets no receipt. `streams` are the kernel's own: printed output may
    wait in them even if the cell has replaced those in `sys`. If `flushed`, the latter were just flushed.
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
    named: dict[str, Any] = {}
    if record.unfinished:
        named = {"transient": _name(record)}
        # ipykernel remembers in a context variable which cell is running.
        _unfinished[record.key] = contextvars.copy_context()
        while len(_unfinished) > _MOST_UNFINISHED:
            _unfinished.popitem(last=False)
    current = (sys.stdout, sys.stderr)
    _publish(
        data,
        named,
        [one for one in streams if all(one is not other for other in current)]
        if flushed
        else (*streams, *current),
    )


def update_receipt(record: Record) -> None:
    """Replace a displayed receipt by one with newer data. May be called from any thread."""
    shown_in = _unfinished.get(record.key)
    if shown_in is None:
        return
    if not record.unfinished:
        _unfinished.pop(record.key, None)
    context = _newest or shown_in
    data = bundle(record)
    kernel: Any = getattr(get_ipython(), "kernel", None)
    sender = getattr(kernel, "iopub_thread", None)
    if sender is not None:
        sender.schedule(
            lambda: context.run(_publish_in_sender, data, {"transient": _name(record), "update": True})
        )


def _name(record: Record) -> dict[str, str]:
    run, sequence = record.key
    return {"display_id": f"jupyter_mlgpu-{run}-{sequence}"}


def _is_ipykernels(publisher: Any) -> bool:
    """Return True if this is ipykernel's own publisher. Does not import ipykernel in a terminal."""
    loaded = module("ipykernel.zmqshell")
    return loaded is not None and type(publisher) is loaded.ZMQDisplayPublisher


def _publish_in_sender(data: dict[str, Any], named: dict[str, Any]) -> None:
    """Publish in the sending thread; raise an error of flushing a stream, which that thread reports."""
    failed = None
    try:
        failed = _publish(data, named, (sys.stdout, sys.stderr))
    except Exception as error:
        say_on_stderr(f"jupyter_mlgpu could not show this cell's receipt ({words(error)}).")
    if failed is not None:
        raise failed


def _publish(
    data: dict[str, Any], named: dict[str, Any], streams: Sequence[TextIO | None]
) -> Exception | None:
    """Publish after flushing the streams; return the first error of a flush, which does not stop the receipt.

    A cell may print text that cannot be sent, such as half of a surrogate pair, close a stream, or replace it
    by None. ipykernel's own publisher would stop there.
    """
    publisher: Any = InteractiveShell.instance().display_pub
    if not _is_ipykernels(publisher):
        publish_display_data(data, **named)  # type: ignore[no-untyped-call]
        return None
    failed = None
    for stream in {id(one): one for one in streams}.values():
        try:
            if stream is not None:
                stream.flush()
        except Exception as error:
            failed = failed or error
    type(publisher).publish(_Flushed(publisher), data, **named)
    return failed


class _Flushed:
    """ipykernel's publisher without its flush of the streams, which `_publish` has done."""

    def __init__(self, publisher: Any) -> None:
        self._publisher = publisher

    def __getattr__(self, name: str) -> Any:
        return getattr(self._publisher, name)

    def _flush_streams(self) -> None:
        """Do nothing."""
