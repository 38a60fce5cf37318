"""How long a page's tasks keep its main thread, and what they leave in its memory."""

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

#: Notes what the page itself takes for long tasks: 50 ms and more by the clock.
OBSERVE = """() => {
    window.longTasks = [];
    window.observer ??= new PerformanceObserver(list => {
        window.longTasks.push(...list.getEntries().map(task => task.duration));
    });
    window.observer.observe({ entryTypes: ['longtask'] });
}"""


@dataclass(frozen=True)
class Task:
    """A task: when it began, how long it took, and the scripts that it called.

    Milliseconds of CPU time, of it of the garbage's collection, and by the clock.
    """

    cpu_ms: float
    garbage_ms: float
    wall_ms: float
    start_ms: float
    scripts: tuple[str, ...]

    def __str__(self) -> str:
        called = ", ".join(self.scripts[:3]) or "the browser itself"
        garbage = f", {self.garbage_ms:.0f} ms of it for garbage" if self.garbage_ms >= 1 else ""
        return f"{self.cpu_ms:.0f} ms of CPU time{garbage} ({self.wall_ms:.0f} ms by the clock) in {called}"


@dataclass
class Watched:
    """What `watching` fills."""

    #: The longest first, by CPU time.
    tasks: list[Task] = field(default_factory=list)
    #: Milliseconds by the clock, of the tasks that the page itself takes for long ones.
    long_tasks: list[float] = field(default_factory=list)

    def long(self) -> str:
        """What the page itself takes for long tasks, by the clock."""
        longest = max(self.long_tasks, default=0.0)
        return f"{len(self.long_tasks)} long tasks by the clock, {longest:.0f} ms at most"


@contextmanager
def watching(browser: Browser, page: Page) -> Iterator[Watched]:
    """Note the tasks of the page's main thread.

    A long task of PerformanceObserver took 50 ms by the clock, which it also does where another process had
    the processor meanwhile. Chromium's tracing tells the CPU time of each task, `tdur`, as well.
    """
    watched = Watched()
    page.evaluate(OBSERVE)
    browser.start_tracing(page=page, categories=CATEGORIES)
    try:
        yield watched
    finally:
        events = json.loads(browser.stop_tracing())["traceEvents"]
        watched.tasks = sorted(_tasks(events), key=lambda task: -task.cpu_ms)
        watched.long_tasks = page.evaluate("() => window.longTasks")


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
        yield Task(task["tdur"] / 1000, garbage / 1000, task["dur"] / 1000, task["ts"] / 1000, tuple(scripts))


def _thread(event: dict[str, Any]) -> tuple[int, int]:
    return event["pid"], event["tid"]


def _start(event: dict[str, Any]) -> float:
    return float(event["ts"])


def _name(call: dict[str, Any]) -> str:
    data = call["args"].get("data", {})
    address = data.get("url", "").partition("?")[0].partition("//")[2].partition("/")[2]
    return f"{data.get('functionName') or 'a function'} of {address or 'this test'}"
