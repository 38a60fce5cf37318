"""When a submission's code may run: a time limit for all of it, and pauses while another one is measured.

Several submissions are graded at once, each by a program of its own. The programs share a folder with two
locked files. `turn` is held by the one that measures, or is about to. `quiet` is shared by all that run
students' code; the one that measures waits until it holds that alone. A thread in each program polls `turn`:
while another program holds it, the thread pauses its student's processes and releases `quiet`.
"""

from __future__ import annotations

import fcntl
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType

from jupyter_mlgpu.record.errors import GradingError

#: Seconds between two checks whether another submission is to be measured.
_INTERVAL = 0.02

Pause = Callable[[], AbstractContextManager[None]]


class Schedule:
    """The time of one submission. Its clock stands still while another submission is measured.

    `most` is the limit of seconds for the whole submission. `folder` is shared with the others that are
    graded at the same time; without one there are no others.
    """

    def __init__(self, most: float = math.inf, folder: Path | None = None) -> None:
        self._most = most
        self._begun = time.monotonic()
        self._clock = threading.Lock()
        self._stops, self._stopped, self._since = 0, 0.0, 0.0
        self._pauses: list[Pause] = []
        # Held by whoever starts, pauses or begins to measure processes.
        self._changing = threading.Lock()
        self._measures = False
        self._over = threading.Event()
        self._files = ExitStack()
        self._thread: threading.Thread | None = None
        if folder is not None:
            self._quiet, self._turn, self._look = (
                self._files.enter_context((folder / name).open("ab")) for name in ("quiet", "turn", "turn")
            )
            self._thread = threading.Thread(target=self._give_way, name="mlgpu-schedule", daemon=True)

    def __enter__(self) -> Schedule:
        if self._thread is not None:
            with self._standing_still():
                fcntl.flock(self._quiet, fcntl.LOCK_SH)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None
    ) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        self._files.close()

    def now(self) -> float:
        """Return the seconds of a monotonic clock without the time in which it stood still."""
        with self._clock:
            return (self._since if self._stops else time.monotonic()) - self._stopped

    @property
    def left(self) -> float:
        """The seconds that are left of the limit; negative when it is over."""
        return self._most + self._begun - self.now()

    def add(self, pause: Pause) -> None:
        """Have processes paused by `pause` while another submission is measured."""
        self._pauses.append(pause)

    @contextmanager
    def starting(self) -> Iterator[None]:
        """Start a process within the block, not while another submission is measured."""
        with self._changing:
            yield

    @contextmanager
    def measuring(self) -> Iterator[None]:
        """Measure within the block, while everything of the other submissions is paused."""
        if self._thread is None or self._measures:
            yield
            return
        with self._standing_still():
            while not self._begin_to_measure():
                time.sleep(_INTERVAL)
            fcntl.flock(self._quiet, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._quiet, fcntl.LOCK_SH)
            fcntl.flock(self._turn, fcntl.LOCK_UN)
            self._measures = False

    def _begin_to_measure(self) -> bool:
        with self._changing, suppress(BlockingIOError):
            fcntl.flock(self._turn, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._measures = True
        return self._measures

    @contextmanager
    def _standing_still(self) -> Iterator[None]:
        """Stop the clock. Both threads may do so at the same time."""
        with self._clock:
            if not self._stops:
                self._since = time.monotonic()
            self._stops += 1
        try:
            yield
        finally:
            with self._clock:
                self._stops -= 1
                if not self._stops:
                    self._stopped += time.monotonic() - self._since

    def _give_way(self) -> None:
        while not self._over.wait(_INTERVAL):
            with self._changing:
                if not self._measures and self._is_wanted():
                    self._pause()

    def _is_wanted(self) -> bool:
        """Return True if another submission is measured, or waits to be."""
        try:
            fcntl.flock(self._look, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        fcntl.flock(self._look, fcntl.LOCK_UN)
        return False

    def _pause(self) -> None:
        # Processes that cannot be paused are ended, and the submission hears of it at its next question.
        with self._standing_still(), suppress(GradingError), ExitStack() as paused:
            for pause in self._pauses:
                with suppress(GradingError):
                    paused.enter_context(pause())
            fcntl.flock(self._quiet, fcntl.LOCK_UN)
            fcntl.flock(self._look, fcntl.LOCK_SH)
            fcntl.flock(self._look, fcntl.LOCK_UN)
            fcntl.flock(self._quiet, fcntl.LOCK_SH)
