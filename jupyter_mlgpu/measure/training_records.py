"""The records of a training: one an epoch, or one every few steps, whatever library trains.

A library tells its callback what happens; the callback tells `TrainingRecords`, which measures. What fails
here costs a record, never the training, and is said once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import suppress

from msgspec.structs import replace

from jupyter_mlgpu.measure import guarded
from jupyter_mlgpu.measure.explained import explained
from jupyter_mlgpu.measure.recorder import Measurement
from jupyter_mlgpu.measure.runtime import Runtime, current
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.redact import beginning
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.record.stderr import say_on_stderr

VALIDATED = say("Validation ran in the meantime: these figures include its time and work.")

Hook = Callable[..., None]


class TrainingRecords:
    """The records of one training after the other, of which one at a time is open.

    Without `every`, a record is an epoch. With it, a record is so many steps, and all that happens until the
    next one begins is in one of them: waiting for data, validations, what is saved.

    Most libraries tell a callback nothing of an epoch that raises. Its record is given up when the next one
    begins, or when the cell or `trace` block ends in which it began.
    """

    def __init__(self, every: int | None, file: str) -> None:
        """`file` has code of the user's, beside a notebook's cells: looks at a record tell its lines.

        Raises UsageError where `every` is no number of steps.
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
        self._said = False

    # What a library tells of.

    def training_begins(self, done: int = 0) -> None:
        """A training begins; one that goes on from a checkpoint has `done` so many steps before."""
        self._begin_steps(done)

    def epoch_begins(self, number: int) -> None:
        """An epoch begins, the first one with number 1."""
        if self.every is None:
            self.begin(f"epoch {number}")

    def epoch_ends(self) -> None:
        """The epoch that has begun is over."""
        if self.every is None:
            self.end()

    def steps_done(self, done: int) -> None:
        """So many steps are done since the training began; a library may tell of several at a time."""
        if self.every is None:
            return
        if not self.is_open:  # cut off by the end of a cell
            self._begin_steps(done)
            return
        self._done = done
        if done - self._before >= self.every and self.end(self._steps()):
            self._begin_steps(done)

    def validates(self) -> None:
        """A validation runs, which what is open now includes."""
        if self._open is not None and VALIDATED not in self._open[1].notes:
            self._open[1].notes.append(VALIDATED)

    def training_ends(self) -> None:
        """The training is over; steps that were fewer than `every` have a record, too."""
        if self._done > self._before:
            self.end(self._steps())
        self.give_up()

    # One record.

    @property
    def is_open(self) -> bool:
        """Whether something is measured: it has begun, and no cell around it has ended since."""
        return self._open is not None and self._open[1].is_open

    def begin(self, name: str) -> None:
        """Measure from now on; what is open is given up."""
        self.give_up()
        runtime = current()
        self._open = runtime, runtime.recorder.start(name, of_user=self._of_user(runtime))

    def end(self, name: str | None = None) -> bool:
        """Keep the record of what was measured, under this name or the one it began with; whether it could.

        There is none where a cell has ended since, and none yet while something goes on that began meanwhile,
        such as a `trace` block of the user's: that would be cut off.
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
        runtime.store.add(explained(record, measurement, runtime))
        return True

    def give_up(self) -> None:
        """Measure no more, without a record."""
        opened, self._open = self._open, None
        if opened is not None and opened[1].is_innermost:
            opened[1].abandon()

    # What may fail.

    def hook(self, method: Hook) -> Hook:
        """The same method of a callback, which never raises an error of ours into the training."""

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
        if not self._said:
            self._said = True
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
