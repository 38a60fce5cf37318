"""A thread that sends the outbox: at most every 10 s, and less often while the receiver does not accept.

It is separate from the sampler's thread (`measure/probes/sampler.py`), because a post waits seconds for the
network, and the sampler must not. It is a daemon thread that holds only memory, so the interpreter ends
without waiting for it. A forked child has no such thread and sends nothing.
"""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable
from dataclasses import dataclass

from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.teach.sharing.outbox import Batch, Outbox, ReportAnswer, make_report
from jupyter_mlgpu.teach.sharing.report import Report

#: Least seconds between two posts.
EVERY = 10.0
#: Most seconds to the next try, however often the last ones failed.
LONGEST = 300.0
#: Random part by which a pause after a failure may be longer, so that a class does not return at once.
SPREAD = 0.25
NAME = "jupyter_mlgpu-sharing"

#: Sends bytes, and calls its second argument first to check that sending is still allowed.
Post = Callable[[bytes, Callable[[], bool]], ReportAnswer]


@dataclass(frozen=True, slots=True)
class State:
    """The state of sharing. Counts are of records.

    `why` is the reason for the last failure, or None. `next_try` is in seconds from now, 0 if it is due.
    `passed` and `tried` count exercises.
    """

    waiting: int
    taken: int
    refused: int
    left_out: int
    unfit: int
    why_refused: str
    passed: int
    tried: int
    why: str | None
    next_try: float


class Sender:
    """Takes records and exercises on the main thread, and sends them on its own thread."""

    def __init__(self, outbox: Outbox, post: Post, *, now: Callable[[], float] = real_time.monotonic) -> None:
        self._outbox = outbox
        self._post = post
        self._now = now
        self._draw = random.Random()  # not the module's, which the student may have seeded
        # Acquired directly: in a condition's `__enter__`, which is Python code, Ctrl-C would leave it
        # acquired.
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._process = os.getpid()
        self._not_before = now()
        self._failures = 0
        self._why: str | None = None
        self._on_its_way = False
        self._ended = False
        self._thread = threading.Thread(target=self._go_on, name=NAME, daemon=True)

    def start(self) -> None:
        """Start sending."""
        self._thread.start()

    def add(self, record: Record) -> None:
        """Add a record."""
        # A forked child has a copy of the lock, perhaps in the acquired state.
        if os.getpid() == self._process:
            with self._lock:
                if not self._ended:
                    self._outbox.add(record)
                    self._changed.notify()

    def check(self, exercise: str, *, right: bool) -> None:
        """Count an answer to an exercise."""
        if os.getpid() == self._process:
            with self._lock:
                if not self._ended:
                    self._outbox.check(exercise, right=right)
                    self._changed.notify()

    def end(self, *, wait: float = 0.0) -> bool:
        """Stop sending and drop what waits; return True if a report was being sent at this moment.

        It waits at most `wait` seconds for the thread.
        """
        if os.getpid() != self._process:
            return False
        with self._lock:
            self._ended = True
            self._outbox.clear()
            self._changed.notify()
            under_way = self._on_its_way
        if wait:
            self._thread.join(wait)
        return under_way

    def state(self) -> State:
        """Return the current state."""
        with self._lock:
            box = self._outbox
            return State(
                waiting=box.waiting,
                taken=box.taken,
                refused=box.refused,
                left_out=box.left_out,
                unfit=box.unfit,
                why_refused=box.why_refused,
                passed=sum(one.passed for one in box.checks),
                tried=len(box.checks),
                why=self._why,
                next_try=max(0.0, self._not_before - self._now()),
            )

    def _go_on(self) -> None:
        while (batch := self._next()) is not None:
            try:
                report, body = make_report(batch, real_time.time())
                self._take_in(report, self._post(body, self._may_send))
            except Exception as error:  # an error of ours must not end the thread, nor be retried at once
                self._take_in(
                    None, ReportAnswer(None, f"this kernel could not send ({type(error).__name__})")
                )

    def _next(self) -> Batch | None:
        """Wait until something is to be sent, and return it; None at the end."""
        with self._lock:
            while not self._ended:
                left = self._not_before - self._now() if self._outbox.waits() else None
                if left is not None and left <= 0:
                    self._not_before = self._now() + EVERY
                    self._on_its_way = True
                    return self._outbox.pick()
                self._changed.wait(left)
            return None

    def _may_send(self) -> bool:
        with self._lock:
            return not self._ended

    def _take_in(self, report: Report | None, answer: ReportAnswer) -> None:
        with self._lock:
            self._on_its_way = False
            if report is not None and self._outbox.process_answer(report, answer):
                self._failures, self._why = 0, None
                return
            self._failures += 1
            self._why = answer.why or "it stored nothing of what was sent"
            pause = min(LONGEST, EVERY * 2.0 ** min(self._failures, 30))
            self._not_before = self._now() + pause * (1 + SPREAD * self._draw.random())
