"""Show a record under its cell.

`publish_display_data` waits twice until ipykernel's sending thread has sent what was printed, some tenths of
a millisecond each. So that thread is asked to publish the receipt itself: it does one thing after the other,
first what was printed, and the kernel waits for it once more before it answers.
"""

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
from jupyter_mlgpu.measure.user_objects import is_a
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.stderr import say_on_stderr
from jupyter_mlgpu.show.receipts.bundle import bundle

#: Receipts that are not complete yet, and the cell that each belongs to; so many at most.
_unfinished: OrderedDict[tuple[str, int], contextvars.Context] = OrderedDict()
_MOST_UNFINISHED = 100
#: The newest cell. nbclient and what is built on it take an update only while that cell runs.
_newest: contextvars.Context | None = None


def cell_begins() -> None:
    """A cell is about to run in this thread: what is shown again belongs to it from now on."""
    global _newest
    if _unfinished:
        _newest = contextvars.copy_context()


def show(record: Record, *, last: bool = False, streams: Sequence[TextIO | None] = ()) -> None:
    """Publish the receipt as the present cell's output; `last`: nothing of the cell comes after it.

    Only then may it be published later: what is printed next would come before it. A client that asked for
    silence gets none. `streams` are those of the kernel, which what was printed may wait in also where the
    cell has put others into `sys`.
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
    if record.unfinished:
        named = {"transient": _name(record)}
        _unfinished[record.key] = context
        while len(_unfinished) > _MOST_UNFINISHED:
            _unfinished.popitem(last=False)
    sender = getattr(kernel, "iopub_thread", None)
    if not last or sender is None or not _plain(shell.display_pub):
        _publish(data, named, streams)
        return
    sender.schedule(lambda: context.run(_publish_there, data, named))


def show_again(record: Record) -> None:
    """Put a receipt of which more is known now in the place of the one that was shown; from any thread."""
    shown = _unfinished.get(record.key)
    if shown is None:
        return
    if not record.unfinished:
        _unfinished.pop(record.key, None)
    context = _newest or shown
    data = bundle(record)
    kernel: Any = getattr(get_ipython(), "kernel", None)
    sender = getattr(kernel, "iopub_thread", None)
    if sender is not None:
        sender.schedule(
            lambda: context.run(_publish_there, data, {"transient": _name(record), "update": True})
        )


def _name(record: Record) -> dict[str, str]:
    run, sequence = record.key
    return {"display_id": f"jupyter_mlgpu-{run}-{sequence}"}


def _plain(publisher: Any) -> bool:
    """Whether nobody wants to see what is published before it is sent, nor what is printed."""
    from ipykernel.iostream import OutStream

    return (
        _is_ipykernels(publisher)
        and not getattr(publisher, "_hooks", True)  # this thread's, with ipykernel 6.31 and 7.4
        and is_a(sys.stdout, OutStream)
        and is_a(sys.stderr, OutStream)
    )


def _is_ipykernels(publisher: Any) -> bool:
    """Return whether it is ipykernel's own publisher, without loading ipykernel in a terminal."""
    loaded = module("ipykernel.zmqshell")
    return loaded is not None and type(publisher) is loaded.ZMQDisplayPublisher


def _publish_there(data: dict[str, Any], named: dict[str, Any]) -> None:
    """In the thread that sends, which says itself what it could not send of that which was printed."""
    failed = None
    try:
        failed = _publish(data, named)
    except Exception as error:
        say_on_stderr(f"jupyter_mlgpu could not show this cell's receipt ({words(error)}).")
    if failed is not None:
        raise failed


def _publish(
    data: dict[str, Any], named: dict[str, Any], streams: Sequence[TextIO | None] = ()
) -> Exception | None:
    """Publish after what was printed; returns what went wrong with that, which is no business of a receipt's.

    A cell may print what nobody can send, such as half of a surrogate pair, close a stream, or put None in
    its place. ipykernel's own publisher would stop there.
    """
    publisher: Any = InteractiveShell.instance().display_pub
    if not _is_ipykernels(publisher):
        publish_display_data(data, **named)  # type: ignore[no-untyped-call]
        return None
    failed = None
    for stream in {id(one): one for one in (*streams, sys.stdout, sys.stderr)}.values():
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
