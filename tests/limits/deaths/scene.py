"""Plants a death in a real kernel, and tells what is made of it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

from jupyter_mlgpu.explain.exits.kernel_exit import KernelExit, post_mortem
from jupyter_mlgpu.jupyter.exits.connection import VARIABLE
from jupyter_mlgpu.jupyter.exits.listener import EndedKernel, ExitListener
from jupyter_mlgpu.record.flight import flight_files
from tests.limits.deaths.planted import Planted
from tests.support.kernels import Notebook
from tests.support.shared_kernels import LOAD

#: Folders in which this machine may let us limit memory: cgroup v1, v2; with the file for the limit.
GROUPS = (
    (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"),
    (Path("/sys/fs/cgroup"), "memory.max"),
)
_NUMBERS = count()
PATIENCE = 30.0
SEEN_WITHIN = 2.5


@contextmanager
def group(limit: int | None) -> Iterator[Path | None]:
    """A control group with this limit on memory; None where there is no limit, or no group can be made."""
    made = None
    for top, name in GROUPS if limit is not None else ():
        folder = top / f"mlgpu-test-{os.getpid()}-{next(_NUMBERS)}"
        try:
            folder.mkdir()
        except OSError:
            continue
        if (folder / name).exists():  # no plain folder, such as the one in which those of v1 are mounted
            with suppress(OSError):
                (folder / name).write_text(str(limit))
                made = folder
                break
        folder.rmdir()
    yield made
    if made is not None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                for pid in (made / "cgroup.procs").read_text().split():  # of a kernel that lives on
                    (made.parent / "cgroup.procs").write_text(pid)
                made.rmdir()
                break
            except OSError:
                time.sleep(0.05)


def can_limit_memory() -> bool:
    with group(2**30) as made:
        return made is not None


class Scene:
    """Kernels with one listener that sees their ends, as a server has it; `start` starts a kernel."""

    def __init__(self, start: Callable[..., Notebook]) -> None:
        self._ends: dict[int, tuple[EndedKernel, bool]] = {}
        self._notebook: Notebook | None = None
        self._listener = ExitListener(self._on_end)
        self._environment = {VARIABLE: self._listener.start()}
        self._start = start

    def close(self) -> None:
        self._listener.stop()

    def verdict(self, planted: Planted) -> KernelExit | None:
        """Return the verdict on a planted death; None says that there was none."""
        if planted.simulated is not None:
            return post_mortem(*planted.simulated)
        with group(planted.limit) as made:
            return self._of_a_kernel(planted, made)

    def _of_a_kernel(self, planted: Planted, made: Path | None) -> KernelExit | None:
        notebook = self._notebook = self._start(extension=False, **self._environment)
        for name in ("runs", "go", "cut"):
            (notebook.folder / name).unlink(missing_ok=True)
        process = notebook.manager.provisioner.process
        if made is not None:
            (made / "cgroup.procs").write_text(str(process.pid))
        first, *before = [planted.first or "", LOAD, *planted.before]
        last = [planted.code] if planted.code else [] if planted.do else [before.pop()]
        for code in (first, *before):
            notebook.run(code)
        for code in last:
            message = notebook.send(code)
        if planted.do is not None:
            planted.do(notebook)
        if planted.cause is None and process.poll() is None:
            notebook.wait(message)
            assert process.poll() is None, f"the kernel ended with {process.poll()}"
            assert process.pid not in self._ends, "a kernel that lives was seen to end"
            return None
        status = process.wait(PATIENCE)
        seen = self._seen(process.pid)
        if seen is None:  # it has said goodbye
            return None
        try:
            ended, asked = seen
            return post_mortem(ended.flight_record, ended.complete_report(process.pid, status, asked=asked))
        finally:
            flight_files.remove(seen[0].path)

    def _on_end(self, seen: EndedKernel) -> None:
        notebook = self._notebook
        self._ends[seen.exit_report.pid or 0] = (
            seen,
            notebook is not None and notebook.manager.shutting_down,
        )

    def _seen(self, pid: int) -> tuple[EndedKernel, bool] | None:
        """Return the seen end; a kernel that shuts down in good order is not seen to end."""
        deadline = time.monotonic() + SEEN_WITHIN
        while pid not in self._ends and time.monotonic() < deadline:
            time.sleep(0.01)
        return self._ends.get(pid)
