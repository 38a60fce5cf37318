"""Every error of the package.

    MlgpuError
    ├── BenchError           a benchmark that cannot run here, or an unreadable file of results
    ├── ClockError           a clock that went backwards during a measurement
    ├── CrossingError        a value from a student's process that is not plain data
    ├── DeviceError          a device that does not exist or cannot be chosen now
    │   ├── OtherGpuError         ... because the machine's GPU is of another kind
    │   └── RestartNeededError    ... because this needs a restart of the kernel
    ├── GradingError         a submission that cannot be graded, or whose process ended
    ├── GraphError           a static graph that cannot be built, compiled or executed
    ├── MissingPackageError  an optional package that is not installed
    ├── NotVerifiedError     a test that the grader's machine cannot measure
    ├── PlanError            a model or function whose graph cannot be read
    ├── RaceError            a race that ended with an error in its own process
    ├── RecordError          a record or a records file that cannot be read or written
    │   └── NewerSchemaError      ... because a later version of jupyter_mlgpu wrote it
    ├── SandboxError         a sandbox for students' code that cannot be started
    ├── StillRunningError    a measurement that was asked for before its block ended
    └── UsageError           a mistyped command or magic

A message is one or two plain sentences: what happened, what was found, what to do next. The notebook and
the command line print the message alone, without the package's traceback.
"""

from __future__ import annotations

#: JupyterLab's menu item that restarts a kernel and runs the cells again.
RESTART_MENU = "Kernel > Restart Kernel and Run up to Selected Cell"


class MlgpuError(Exception):
    """The base class of the package's errors. Their texts are written for the user."""


class BenchError(MlgpuError):
    """A benchmark cannot run here, or results to compare it with cannot be read."""


class ClockError(MlgpuError):
    """A clock showed an earlier time at the end of a measurement than at its beginning."""


class CrossingError(MlgpuError):
    """A value passed between the grader and a student's process is not plain data, or is too large."""


class DeviceError(MlgpuError):
    """The requested device does not exist here, or cannot be chosen now."""


class OtherGpuError(DeviceError):
    """The request names a kind of GPU, such as `mps`, and the machine's GPU is of another kind."""


class RestartNeededError(DeviceError):
    """The request is refused, but would succeed after a restart of the kernel.

    `sentence` gives the reason, and any step that is needed before the restart. `by_hand` explains how to
    restart in a front end without a button for it. `verbose` holds the words of `%mlc_trace verbose` that the
    new kernel must receive before its first cell. `refusal` is a shorter sentence for a cell that has to
    fail.
    """

    def __init__(self, sentence: str, by_hand: str, *, refusal: str = "", verbose: str | None = None) -> None:
        super().__init__(f"{refusal} {sentence}".lstrip())
        self.sentence = sentence
        self.by_hand = by_hand
        self.refusal = refusal
        self.verbose = verbose


class GradingError(MlgpuError):
    """A submission cannot be graded, or its process ended before it answered."""


class GraphError(MlgpuError):
    """A jupyter_mlgpu.mlcompute graph cannot be built, compiled or executed with these arguments."""


class MissingPackageError(MlgpuError):
    """An optional package that this function needs is not installed."""

    def _render_traceback_(self) -> list[str]:
        """Return the error's sentence alone, in place of IPython's traceback, whose frames would not help."""
        return [f"{type(self).__name__}: {self}"]


class NotVerifiedError(MlgpuError):
    """The grading machine cannot measure what a test asks for. The teacher decides."""


class PlanError(MlgpuError):
    """The graph of a model or function cannot be read, so there is nothing to plan."""


class RaceError(MlgpuError):
    """A race ended with an error in its own process. The user's traceback was shown before."""


class RecordError(MlgpuError):
    """A record, or a file of records, cannot be read or written."""


class NewerSchemaError(RecordError):
    """A record was written by a later version of jupyter_mlgpu."""


class SandboxError(MlgpuError):
    """A sandbox could not be started, so no code ran. The student is not to blame for missing results."""


class StillRunningError(MlgpuError):
    """The measurements of a traced block were asked for before it ended."""


class UsageError(MlgpuError):
    """A magic or command was given words that it does not know."""
