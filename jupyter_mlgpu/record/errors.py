"""Every error of the package.

    MlgpuError
    ├── BenchError           a benchmark that cannot run here, or a file of results that is none
    ├── ClockError           a clock that went backwards while something was timed
    ├── CrossingError        what a student's process gave the grader is no plain data
    ├── DeviceError          a device that does not exist or cannot be chosen now
    │   └── RestartNeededError    ... because only a restart of the kernel would bring it
    ├── GradingError         a submission that cannot be graded, or whose process ended
    ├── GraphError           a static graph that cannot be built, compiled or executed so
    ├── MissingPackageError  a package that only this needs is not installed
    ├── NotVerifiedError     a grader's machine cannot measure what a test asks for
    ├── PlanError            a model or function whose graph cannot be read
    ├── RaceError            a race that ended in another process than this one
    ├── RecordError          a record or a records file that cannot be read or written
    │   └── NewerSchemaError      ... because a later version of jupyter_mlgpu wrote it
    ├── SandboxError         the place where students' code is to run cannot be made
    ├── StillRunningError         a measurement was asked for before its block ended
    └── UsageError           a command or magic that was typed wrongly

A message is one or two plain sentences: what happened, what was found, what to do next. The
notebook and the command line print the message alone, never a traceback of ours.
"""

from __future__ import annotations

#: Where JupyterLab restarts a kernel and runs the cells again.
RESTART_MENU = "Kernel > Restart Kernel and Run up to Selected Cell"


class MlgpuError(Exception):
    """Anything that jupyter_mlgpu refuses to do; its text is written for the person at the keyboard."""


class BenchError(MlgpuError):
    """A benchmark cannot run here, or what was to be compared with it cannot be read."""


class ClockError(MlgpuError):
    """The clock showed less at the end of what was timed than at its beginning."""


class CrossingError(MlgpuError):
    """What should cross between the grader and a student's process is no plain data, or too large."""


class DeviceError(MlgpuError):
    """The device asked for does not exist here, or cannot be chosen at this moment."""


class RestartNeededError(DeviceError):
    """What was asked for is refused, and a restart of the kernel would bring it.

    `sentence` says why, and what has to be done before the restart, if anything; `by_hand` how to restart
    where there is no button for it. `verbose` holds the words of `%mlc_trace verbose` that the fresh
    kernel must be given before its first cell. `refusal` is the shorter sentence that fails the
    cell, where it has to fail.
    """

    def __init__(self, sentence: str, by_hand: str, *, refusal: str = "", verbose: str | None = None) -> None:
        super().__init__(f"{refusal} {sentence}".lstrip())
        self.sentence = sentence
        self.by_hand = by_hand
        self.refusal = refusal
        self.verbose = verbose


class GradingError(MlgpuError):
    """A submission cannot be graded so, or its process ended before it answered."""


class GraphError(MlgpuError):
    """A graph of jupyter_mlgpu.mlcompute cannot be built, compiled or executed with what was given."""


class MissingPackageError(MlgpuError):
    """A package that is needed for this alone, and not by the rest, is not installed."""

    def _render_traceback_(self) -> list[str]:
        """IPython asks for it: the sentence alone, for nothing in our frames helps who reads it."""
        return [f"{type(self).__name__}: {self}"]


class NotVerifiedError(MlgpuError):
    """The machine that grades cannot measure what a test asks for: the teacher decides."""


class PlanError(MlgpuError):
    """The graph of what was given cannot be read, so there is nothing to plan."""


class RaceError(MlgpuError):
    """A race in a process of its own ended there; the user's own traceback was shown before."""


class RecordError(MlgpuError):
    """A record, or a file of records, cannot be read or written."""


class NewerSchemaError(RecordError):
    """A record was written by a later version of jupyter_mlgpu than this one."""


class SandboxError(MlgpuError):
    """A sandbox could not be started, so nothing ran, and nobody is to blame for what did not come out."""


class StillRunningError(MlgpuError):
    """A traced block was asked for its measurements before it ended."""


class UsageError(MlgpuError):
    """A magic or command was given words it does not know."""
