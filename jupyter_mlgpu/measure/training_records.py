"""The records of a training: one for each epoch or every few steps, for any training library.

A library calls its callback, and the callback calls `TrainingRecords`, which measures. A failure here costs a
record, never the training, and is reported once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import suppress

from msgspec.structs import replace

from jupyter_mlgpu.measure import guarded
from jupyter_mlgpu.measure.recorder import Measurement
from jupyter_mlgpu.measure.runtime import Runtime, current
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.redact import beginning
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.record.stderr import say_on_stderr

VALIDATED = say("Validation ran in the meantime: these figures include its time and work.")

Hook = Callable[..., None]


class TrainingRecords:
    """The records of one training after the other. One record at a time is open.

    Without `every`, a record is an epoch. With it, a record is so many steps and includes all that happens
    until the next one begins: waiting for data, validations, saving.

    Most libraries do not tell a callback of an epoch that raises. Its record is given up when the next one
    begins, or when the cell or `trace` block ends in which it began.
    """

    def __init__(self, every: int | None, file: str) -> None:
        """`file` holds user code outside the notebook's cells: the samples of a record include its lines.

        Raises UsageError if `every` is not a number of steps.
        """
        if every is not None and (not isinstance(every, int) or isinstance(every, bool) or every < 1):
            raise UsageError(
                f"`every` is a number of steps, 1 or more, and {every!r} is none: "
                "give a number such as 100, or leave it out for a record an epoch."
            )
        self.every = every
        self.file = file
        self._open: tuple[Runtime, Measurement] | None = None
        self._before = self._done = 0
        self._failure_reported = False

    # Calls of a library's callback.

    def training_begins(self, done: int = 0) -> None:
        """Begin a training; `done` steps were made before the checkpoint from which it goes on."""
        self._begin_steps(done)

    def epoch_begins(self, number: int) -> None:
        """Begin an epoch; the first one has number 1."""
        if self.every is None:
            self.begin(f"epoch {number}")

    def epoch_ends(self) -> None:
        """End the open epoch."""
        if self.every is None:
            self.end()

    def steps_done(self, done: int) -> None:
        """Note that so many steps are done since the training began; it may be several more than before."""
        if self.every is None:
            return
        if not self.is_open:  # cut off by the end of a cell
            self._begin_steps(done)
            return
        self._done = done
        if done - self._before >= self.every and self.end(self._steps()):
            self._begin_steps(done)

    def validates(self) -> None:
        """Note that a validation runs, which the open record includes."""
        if self._open is not None and VALIDATED not in self._open[1].notes:
            self._open[1].notes.append(VALIDATED)

    def training_ends(self) -> None:
        """End the training; steps that were fewer than `every` get a record, too."""
        if self._done > self._before:
            self.end(self._steps())
        self.give_up()

    # One record.

    @property
    def is_open(self) -> bool:
        """True if something is measured and no cell around it has ended since it began."""
        return self._open is not None and self._open[1].is_open

    def begin(self, name: str) -> None:
        """Begin a record; one that is open is given up."""
        self.give_up()
        runtime = current()
        self._open = runtime, runtime.recorder.start(name, of_user=self._of_user(runtime))

    def end(self, name: str | None = None) -> bool:
        """Keep the record of what was measured, under this name or the one it began with.

        Returns False if it could not be kept: a cell has ended since, or something that began meanwhile goes
        on, such as a `trace` block of the user's, which would be cut off.
        """
        if self._open is None or not self._open[1].is_innermost:
            return False
        (runtime, measurement), self._open = self._open, None
        try:
            record = measurement.stop(requested=runtime.selection.requested())
        except BaseException:
            measurement.abandon()
            raise
        if name is not None:
            record = replace(record, cell=replace(record.cell, name=beginning(name)))
        runtime.store.add(runtime.with_limit(record, measurement))
        return True

    def give_up(self) -> None:
        """Abandon the open record."""
        opened, self._open = self._open, None
        if opened is not None and opened[1].is_innermost:
            opened[1].abandon()

    # What may fail.

    def hook(self, method: Hook) -> Hook:
        """Wrap a method of a callback so that errors of this package never reach the training."""

        @functools.wraps(method)
        def harmless(*arguments: object, **named: object) -> None:
            try:
                method(*arguments, **named)
            except Exception as error:
                self._failed(error)

        return harmless

    def _failed(self, error: Exception) -> None:
        with suppress(Exception):
            self.give_up()
        if not self._failure_reported:
            self._failure_reported = True
            with suppress(Exception):
                say_on_stderr(
                    "jupyter_mlgpu could not make a record of this training "
                    f"({guarded.words(error)}); the training goes on."
                )

    def _begin_steps(self, done: int) -> None:
        self._before = self._done = done
        if self.every is not None:
            self.begin(f"steps from {done + 1} on")

    def _steps(self) -> str:
        first, last = self._before + 1, self._done
        return f"step {last}" if first == last else f"steps {first} to {last}"

    def _of_user(self, runtime: Runtime) -> Callable[[str], int | None]:
        def of_user(file: str) -> int | None:
            cell = runtime.of_user(file)
            return 0 if cell is None and file == self.file else cell

        return of_user
