"""How long a page's tasks keep its main thread, and what they leave in its memory.

A machine does other work at the same time, and a task of 20 ms can take 100 ms by the clock because another
process has the processor. So Chromium's tracing gives the CPU time of every task of the page's main thread,
JupyterLab's and the browser's own included.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

#: Tasks of the browser's event loop, and the functions with which scripts begin to run in them.
CATEGORIES = ["toplevel", "devtools.timeline"]
TASK = "ThreadControllerImpl::RunTask"
CALL = "FunctionCall"
COLLECTIONS = ("MajorGC", "MinorGC")


@dataclass(frozen=True)
class Task:
    """A task: how long it took, and the scripts that it called.

    Seconds of CPU time, of it of the garbage's collection, and by the clock.
    """

    cpu: float
    garbage: float
    wall: float
    scripts: tuple[str, ...]

    def __str__(self) -> str:
        called = ", ".join(self.scripts[:3]) or "the browser itself"
        cpu, garbage, wall = (f"{seconds * 1e3:.0f} ms" for seconds in (self.cpu, self.garbage, self.wall))
        collected = f", {garbage} of it for garbage" if self.garbage >= 1e-3 else ""
        return f"{cpu} of CPU time{collected} ({wall} by the clock) in {called}"


@dataclass
class Watched:
    """What `watching` fills."""

    #: The longest first, by CPU time.
    tasks: list[Task] = field(default_factory=list)


@contextmanager
def watching(browser: Browser, page: Page) -> Iterator[Watched]:
    """Note the tasks of the page's main thread, from Chromium's tracing."""
    watched = Watched()
    browser.start_tracing(page=page, categories=CATEGORIES)
    try:
        yield watched
    finally:
        events = json.loads(browser.stop_tracing())["traceEvents"]
        watched.tasks = sorted(_tasks(events), key=lambda task: -task.cpu)


def heap(page: Page) -> int:
    """Bytes that the page's scripts and documents hold once the garbage is collected."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.enable")
    session.send("HeapProfiler.collectGarbage")
    used = session.send("Runtime.getHeapUsage")
    session.detach()
    return int(used["usedSize"] + used["embedderHeapUsedSize"] + used["backingStorageSize"])


def _tasks(events: list[dict[str, Any]]) -> Iterator[Task]:
    whole = [event for event in events if event["ph"] == "X" and "tdur" in event]
    calls = [event for event in whole if event["name"] == CALL]
    # Of all threads of all processes, the page's main one calls most functions.
    threads = [_thread(call) for call in calls]
    page = max(set(threads), key=threads.count)
    calls = sorted((call for call in calls if _thread(call) == page), key=_start)
    collections = [event for event in whole if event["name"] in COLLECTIONS and _thread(event) == page]
    tasks = [event for event in whole if event["name"] == TASK and _thread(event) == page]
    at = 0
    for task in sorted(tasks, key=_start):
        end = _start(task) + task["dur"]
        scripts: dict[str, None] = {}
        while at < len(calls) and _start(calls[at]) <= end:
            if _start(calls[at]) >= _start(task):
                scripts[_name(calls[at])] = None
            at += 1
        garbage = sum(one["tdur"] for one in collections if _start(task) <= _start(one) <= end)
        yield Task(task["tdur"] / 1e6, garbage / 1e6, task["dur"] / 1e6, tuple(scripts))


def _thread(event: dict[str, Any]) -> tuple[int, int]:
    return event["pid"], event["tid"]


def _start(event: dict[str, Any]) -> float:
    return float(event["ts"])


def _name(call: dict[str, Any]) -> str:
    data = call["args"].get("data", {})
    address = data.get("url", "").partition("?")[0].partition("//")[2].partition("/")[2]
    return f"{data.get('functionName') or 'a function'} of {address or 'this benchmark'}"
