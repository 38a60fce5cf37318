"""Executes a notebook in its own kernel, with tracing on and its code unchanged."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from pathlib import Path

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError
from nbformat import NotebookNode

from jupyter_mlgpu.jupyter.cli.kernel import Kernel
from jupyter_mlgpu.jupyter.cli.progress import Progress, printable
from jupyter_mlgpu.record.device_request import DeviceWord
from jupyter_mlgpu.record.errors import DeviceError

OK, CELL_FAILED, STOPPED, INTERRUPTED = 0, 1, 2, 130
#: Seconds after an interrupt in which a cell must end before its kernel is killed.
GRACE = 10.0


@dataclass(frozen=True)
class RunEnd:
    """The end of a run: its exit status, and the number of cells that ran to their end.

    `sentence` says what went wrong, if anything. `for_report` says the same without text from the notebook or
    its errors, which is not redacted.
    """

    status: int
    done: int
    total: int
    sentence: str | None = None
    for_report: str | None = None


@dataclass(eq=False, repr=False)
class Execution:
    """One run of a notebook, whose cells get their outputs in place.

    The kernel writes each record to `records` as its cell ends. `timeout` is in seconds per cell, None for no
    limit.
    """

    notebook: NotebookNode
    path: Path
    _: KW_ONLY
    records: Path
    device: DeviceWord | None
    timeout: float | None
    kernel: Kernel
    progress: Progress

    def __post_init__(self) -> None:
        self._cells = [(index, cell) for index, cell in enumerate(self.notebook.cells) if _runs(cell)]
        self._client = NotebookClient(
            self.notebook,
            km=self.kernel.manager,
            timeout=None,
            iopub_timeout=60,  # much output may still arrive after the cell has ended
            record_timing=False,  # the receipts have the times
            log=_silent(),
        )
        self._why: str | None = None
        self._in_cell = False
        self._kill: asyncio.TimerHandle | None = None

    async def run(self, begin: Callable[[], None]) -> RunEnd:
        """Run the notebook to its end, to a failure, or to an interrupt, and end the kernel.

        `begin` is called when the first cell is about to run. Raises MlgpuError if it cannot start, and
        KeyboardInterrupt if an interrupt comes before that.
        """
        loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        loop.add_signal_handler(signal.SIGINT, self._stop, "interrupt")
        done: int | None = None
        try:
            await self._prepare()
            begin()
            done = 0
            for done, (index, cell) in enumerate(self._cells):
                ending = await self._run_cell(done + 1, index, cell)
                if ending is not None:
                    return ending
            return RunEnd(OK, len(self._cells), len(self._cells))
        except asyncio.CancelledError:
            if self._why is None:
                raise
            if done is None:
                raise KeyboardInterrupt from None
            return self._interrupted(done)
        finally:
            # Ignore interrupts while the results are written and the kernel ends.
            loop.add_signal_handler(signal.SIGINT, lambda: None)
            self._client.set_widgets_metadata()
            await self.kernel.end(now=self._why is not None)
            loop.remove_signal_handler(signal.SIGINT)

    async def _prepare(self) -> None:
        self.progress.say(f"Starting the kernel {self.kernel.name}")
        await self.kernel.start(self._client, self.path, self.records)
        if self.device is not None and self.device.kind == "gpu":
            self.progress.say("Importing the framework to look for a GPU")
            await self.kernel.refuse_missing_gpu()
        await self.kernel.trace(self.device)

    async def _run_cell(self, number: int, index: int, cell: NotebookNode) -> RunEnd | None:
        """Run one cell; return the end of the run, or None if it goes on."""
        self.progress.cell(number, len(self._cells), _first_line(cell.source))
        loop = asyncio.get_running_loop()
        limit = loop.call_later(self.timeout, self._stop, "timeout") if self.timeout else None
        failure: CellExecutionError | None = None
        self._in_cell = True
        try:
            await self._client.async_execute_cell(cell, index)
        except CellExecutionError as error:
            failure = error
        except DeadKernelError:
            if self._why is None:
                return await self._died(number, cell)
        finally:
            self._in_cell = False
            for timer in (limit, self._kill):
                if timer is not None:
                    timer.cancel()
        if self._why == "timeout":
            why = f"took longer than {self.timeout:g} s and was interrupted"
            return self._ended(CELL_FAILED, number - 1, cell, why, why)
        if self._why is not None:
            return self._interrupted(number - 1)
        if failure is not None:
            what = f"{failure.ename}: {failure.evalue}" if failure.evalue else failure.ename
            raised = f"raised {printable(_first_line(what), 200)}"
            return self._ended(CELL_FAILED, number - 1, cell, raised, "raised an exception")
        return await self._check_device(number, cell)

    async def _check_device(self, number: int, cell: NotebookNode) -> RunEnd | None:
        if self.device is None:
            return None
        try:
            await self.kernel.check_device()
        except DeviceError as error:
            why = f"was the last cell to run: {error}"
            return self._ended(STOPPED, number, cell, why, why)
        except DeadKernelError:  # the cell told its kernel to exit
            return await self._died(number, cell)
        return None

    async def _died(self, number: int, cell: NotebookNode) -> RunEnd:
        kernel_exit = await self.kernel.kernel_exit()
        if kernel_exit is None:
            return self._ended(
                STOPPED, number - 1, cell, "lost its kernel", "lost its kernel and left no record"
            )
        last = "".join(f"\n  {printable(line.text, 200)}" for line in kernel_exit.lines)
        native_lines = f" Its last native lines:{last}" if last else ""
        return self._ended(
            STOPPED,
            number - 1,
            cell,
            f"lost its kernel. {kernel_exit.sentence} {kernel_exit.next}{native_lines}",
            f"lost its kernel and left no record. {kernel_exit.sentence}".removesuffix("."),
        )

    def _ended(self, status: int, done: int, cell: NotebookNode, why: str, for_report: str) -> RunEnd:
        name = f"Cell [{cell.execution_count or done + 1}]"
        total = len(self._cells)
        ran = f"{done} of {total} cells ran to their end."
        code = printable(_first_line(cell.source))
        return RunEnd(status, done, total, f"{name} `{code}` {why}", f"{name} {for_report}. {ran}")

    def _interrupted(self, done: int) -> RunEnd:
        total = len(self._cells)
        sentence = f"Interrupted: {done} of {total} cells ran to their end."
        return RunEnd(INTERRUPTED, done, total, sentence, sentence)

    def _stop(self, why: str) -> None:
        """Interrupt the running cell as a front end would; outside a cell or the second time, end at once."""
        if self._why is not None or not self._in_cell:
            self._why = self._why or why
            self._cancel()
            return
        self._why = why
        # Stored because asyncio holds only weak references to tasks.
        self._interrupting = asyncio.ensure_future(self.kernel.manager.interrupt_kernel())
        self._kill = asyncio.get_running_loop().call_later(GRACE, self._cancel)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()


def _runs(cell: NotebookNode) -> bool:
    """Return True if nbclient executes this cell."""
    tags = cell.metadata.get("tags", [])
    return cell.cell_type == "code" and bool(cell.source.strip()) and "skip-execution" not in tags


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _silent() -> logging.Logger:
    """Return a silent logger for nbclient, which logs the errors that it also raises; we report them."""
    log = logging.getLogger("jupyter_mlgpu.jupyter.cli.nbclient")
    log.addHandler(logging.NullHandler())
    log.propagate = False
    return log
