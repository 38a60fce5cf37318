"""Execute a notebook in a kernel of its own, with tracing on and its code as it is."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError
from nbformat import NotebookNode

from jupyter_mlgpu.cli.progress import Progress, printable
from jupyter_mlgpu.errors import DeviceError, MlgpuError, UsageError
from jupyter_mlgpu.selection import parse

OK, CELL_FAILED, STOPPED, INTERRUPTED = 0, 1, 2, 130
#: Seconds that a cell has for ending after an interrupt, before its kernel is killed.
GRACE = 10.0
_OURS = "__import__('jupyter_mlgpu.notebook.headless', fromlist=['headless'])"


@dataclass(frozen=True)
class Ending:
    """How a run ended.

    `sentence` says what went wrong, None where nothing did. `for_report` says the same without words
    of the notebook or of its errors, which nobody has redacted.
    """

    status: int
    done: int
    total: int
    sentence: str | None = None
    for_report: str | None = None


class Execution:
    """One run of one notebook, whose cells get their outputs in place.

    `records` is where the kernel writes each record as its cell ends. `timeout` is in seconds for a
    cell, None for no limit.
    """

    def __init__(
        self,
        notebook: NotebookNode,
        path: Path,
        *,
        records: Path,
        device: str | None,
        timeout: float | None,
        kernel: str | None,
        progress: Progress,
    ) -> None:
        self._cells = [(i, cell) for i, cell in enumerate(notebook.cells) if _runs(cell)]
        self._path = path
        self._records = records
        self._device = device
        self._timeout = timeout
        self._progress = progress
        self._kernel = kernel or notebook.metadata.get("kernelspec", {}).get("name") or "python3"
        self._manager = AsyncKernelManager(kernel_name=self._kernel)
        self._client = NotebookClient(
            notebook,
            km=self._manager,
            timeout=None,
            iopub_timeout=60,  # a burst of output may still be on its way when the cell has ended
            record_timing=False,  # the receipts say it
            log=_silent(),
        )
        self._why: str | None = None
        self._in_cell = False
        self._kill: asyncio.TimerHandle | None = None

    def check_kernel(self) -> None:
        """Raise UsageError where the kernel is not installed or not one for Python."""
        try:
            language = self._manager.kernel_spec.language
        except NoSuchKernel as error:
            known = ", ".join(sorted(KernelSpecManager().find_kernel_specs())) or "none"
            raise UsageError(
                f"There is no kernel {self._kernel!r} here: found {known}. Choose one with --kernel."
            ) from error
        if language != "python":
            raise UsageError(
                f"The kernel {self._kernel!r} is one for {language}; only Python notebooks can be traced."
            )

    async def run(self, started: Callable[[], None]) -> Ending:
        """Run the notebook to its end, to a failure, or to an interrupt; the kernel is gone afterwards.

        `started()` is called when the first cell is about to run. Raises MlgpuError where it could not
        come to that.
        """
        loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        loop.add_signal_handler(signal.SIGINT, self._stop, "interrupt")
        done = 0
        try:
            await self._start_kernel()
            started()
            for done, (index, cell) in enumerate(self._cells):
                ending = await self._run_cell(done + 1, index, cell)
                if ending is not None:
                    return ending
            done = len(self._cells)
            self._client.set_widgets_metadata()
            return Ending(OK, done, done)
        except asyncio.CancelledError:
            if self._why is None:
                raise
            return self._interrupted(done)
        finally:
            loop.remove_signal_handler(signal.SIGINT)
            await self._shut_down()

    # -- the kernel -------------------------------------------------------------------------------

    async def _start_kernel(self) -> None:
        self._progress.say(f"Starting the kernel {self._kernel}")
        environment = {
            **os.environ,
            "JPY_SESSION_NAME": str(self._path),  # what jupyter_server sets: the notebook's path
            "JUPYTER_MLGPU_RECORDS": str(self._records),
        }
        try:
            await self._client.async_start_new_kernel(
                cwd=str(self._path.parent),
                env=environment,
                # What a kernel says outside its cells would tear the progress bar.
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            await self._client.async_start_new_kernel_client()
        except (OSError, RuntimeError) as error:
            raise MlgpuError(
                f"The kernel {self._kernel!r} did not start ({printable(str(error))}); "
                "see whether `jupyter console` starts it, or choose another with --kernel."
            ) from error
        if self._device is not None and parse(self._device)[0] == "gpu":
            await self._refuse_missing_gpu()
        await self._ask(f"begin(get_ipython(), {self._device!r})")

    async def _refuse_missing_gpu(self) -> None:
        """Look before the first cell, then forget that we looked.

        Only a framework knows its GPUs, and importing it here would come before the notebook's own
        settings for it: so the kernel that imported it is replaced by a fresh one.
        """
        self._progress.say("Importing the framework to see whether there is a GPU")
        await self._ask("find_gpu(get_ipython())")
        await self._manager.restart_kernel(now=True)
        await self._client.kc.wait_for_ready(timeout=self._client.startup_timeout)

    async def _ask(self, call: str) -> None:
        """Call a function of `notebook.headless` in the kernel; raises MlgpuError with what it raised."""
        message = self._client.kc.execute(f"{_OURS}.{call}", silent=True, store_history=False)
        reply = await self._client.async_wait_for_reply(message)
        content = reply["content"] if reply else {}
        if content.get("status") == "ok":
            return
        name, text = content.get("ename"), content.get("evalue")
        if name == "DeviceError":
            raise DeviceError(text)
        raise MlgpuError(
            f"The kernel {self._kernel!r} cannot trace ({name}: {printable(str(text))}); install jupyter_mlgpu "
            "in the Python of that kernel, or choose another kernel with --kernel."
        )

    async def _shut_down(self) -> None:
        self._disarm()
        if self._manager.has_kernel:
            await self._manager.shutdown_kernel(now=self._why is not None)
        if self._client.kc is not None:
            self._client.kc.stop_channels()

    # -- its cells --------------------------------------------------------------------------------

    async def _run_cell(self, number: int, index: int, cell: NotebookNode) -> Ending | None:
        """Run one cell; returns how the run ended with it, None where it goes on."""
        self._progress.cell(number, len(self._cells), first_line(cell.source))
        loop = asyncio.get_running_loop()
        limit = loop.call_later(self._timeout, self._stop, "timeout") if self._timeout else None
        failure: CellExecutionError | None = None
        self._in_cell = True
        try:
            await self._client.async_execute_cell(cell, index)
        except CellExecutionError as error:
            failure = error
        except DeadKernelError:
            return self._interrupted(number - 1, cell) if self._why else await self._died(number, cell)
        finally:
            self._in_cell = False
            if limit is not None:
                limit.cancel()
            self._disarm()
        if self._why is not None:
            return self._interrupted(number - 1, cell)
        if failure is not None:
            what = f"{failure.ename}: {failure.evalue}" if failure.evalue else failure.ename
            return self._ended(
                CELL_FAILED,
                number - 1,
                cell,
                f"raised {printable(first_line(what), 200)}",
                "raised an exception",
            )
        if self._device is not None:
            return await self._check_device(number, cell)
        return None

    async def _check_device(self, number: int, cell: NotebookNode) -> Ending | None:
        try:
            await self._ask("check_device(get_ipython())")
        except DeviceError as error:
            why = f"was the last to run. {error}"
            return self._ended(STOPPED, number, cell, why, why)
        except DeadKernelError:  # the cell asked its kernel to exit
            return await self._died(number, cell)
        return None

    async def _died(self, number: int, cell: NotebookNode) -> Ending:
        status = await self._manager.provisioner.poll() if self._manager.provisioner else None
        why = "lost its kernel" if status is None else f"lost its kernel (exit status {status})"
        if status == -signal.SIGKILL:
            why += ", which is what the system does when memory runs out"
        return self._ended(STOPPED, number - 1, cell, why, f"{why}; it left no receipt")

    def _ended(self, status: int, done: int, cell: NotebookNode, why: str, for_report: str) -> Ending:
        number = cell.execution_count or done + 1
        return Ending(
            status,
            done,
            len(self._cells),
            f"Cell [{number}] `{printable(first_line(cell.source))}` {why}",
            f"Cell [{number}] {for_report}. {self._not_run(done)}".rstrip(),
        )

    def _interrupted(self, done: int, cell: NotebookNode | None = None) -> Ending:
        if self._why == "timeout" and cell is not None:
            why = f"took longer than {self._timeout:g} s and was interrupted"
            return self._ended(CELL_FAILED, done, cell, why, why)
        left = f"{done} of {len(self._cells)} cells were run."
        return Ending(INTERRUPTED, done, len(self._cells), f"Interrupted: {left}", f"Interrupted: {left}")

    def _not_run(self, done: int) -> str:
        left = len(self._cells) - done - 1
        return f"{left} cells after it were not run." if left > 1 else ""

    # -- interrupts and time limits ---------------------------------------------------------------

    def _stop(self, why: str) -> None:
        """Interrupt the running cell as a front end would; a second time, or outside a cell, end at once."""
        if self._why is not None or not self._in_cell:
            self._why = self._why or why
            self._cancel()
            return
        self._why = why
        self._interrupting = asyncio.ensure_future(self._manager.interrupt_kernel())
        self._kill = asyncio.get_running_loop().call_later(GRACE, self._cancel)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _disarm(self) -> None:
        if self._kill is not None:
            self._kill.cancel()
            self._kill = None


def _runs(cell: NotebookNode) -> bool:
    """Whether nbclient executes this cell."""
    tags = cell.metadata.get("tags", [])
    return cell.cell_type == "code" and bool(cell.source.strip()) and "skip-execution" not in tags


def first_line(source: str) -> str:
    """The first line of code that is not empty."""
    return next((line.strip() for line in source.splitlines() if line.strip()), "")


def _silent() -> logging.Logger:
    """nbclient logs what it also raises; we say it once, in our own words."""
    log = logging.getLogger("jupyter_mlgpu.cli.nbclient")
    log.addHandler(logging.NullHandler())
    log.propagate = False
    return log
