"""The kernel that runs a notebook: starts it, turns on tracing, detects its end, and shuts it down."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError

from jupyter_mlgpu.jupyter.cli.progress import printable
from jupyter_mlgpu.jupyter.exits.connection import VARIABLE
from jupyter_mlgpu.jupyter.exits.listener import EndedKernel, ExitListener
from jupyter_mlgpu.record import language
from jupyter_mlgpu.record.device_request import DeviceWord
from jupyter_mlgpu.record.errors import DeviceError, MlgpuError, UsageError
from jupyter_mlgpu.record.flight import flight_files
from jupyter_mlgpu.record.flight.exit_report import ExitReport

if TYPE_CHECKING:
    from jupyter_mlgpu.explain.exits.kernel_exit import KernelExit

#: Seconds that a kernel has before its shutdown to read the last lines of its cells.
ANSWERS_WITHIN = 10.0
#: Seconds to wait for the listener's report about a lost kernel.
REPORT_WITHIN = 2.5
_OURS = "__import__('jupyter_mlgpu.jupyter.notebook.headless', fromlist=['headless'])"


class Kernel:
    """A kernel for one run; `name` is that of an installed kernel."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.manager = AsyncKernelManager(kernel_name=name)
        self._ends: list[EndedKernel] = []
        self._listener = ExitListener(self._ends.append)
        self._flight_record: Path | None = None

    def check(self) -> None:
        """Raise UsageError if no such kernel is installed, or if it is not a Python kernel."""
        try:
            spec = self.manager.kernel_spec
        except NoSuchKernel as error:
            known = ", ".join(sorted(KernelSpecManager().find_kernel_specs())) or "none"
            raise UsageError(
                f"Kernel {printable(self.name)!r} was not found. Available: {known}. Choose with --kernel."
            ) from error
        if spec is None or spec.language != "python":
            raise UsageError(
                f"The kernel {self.name!r} is not a Python kernel, and only Python notebooks can be traced; "
                "choose another with --kernel."
            )

    async def start(self, client: NotebookClient, notebook: Path, records: Path) -> None:
        """Start it in the notebook's folder; it appends each record to `records` as a cell ends."""
        self._client = client
        environment = {
            **os.environ,
            **language.environment(client.nb.metadata),
            "JPY_SESSION_NAME": str(notebook),  # what jupyter_server sets: the notebook's path
            "JUPYTER_MLGPU_RECORDS": str(records),
        }
        with suppress(OSError):  # then less is known about a crash
            environment[VARIABLE] = self._listener.start()
        try:
            await client.async_start_new_kernel(
                cwd=str(notebook.parent),
                env=environment,
                # A kernel's output outside cells would break the progress bar.
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            await client.async_start_new_kernel_client()
            name = flight_files.name_for(self.manager.connection_file)
            self._flight_record = None if name is None else flight_files.folder() / name
        except (OSError, RuntimeError) as error:
            raise MlgpuError(
                f"The kernel {self.name!r} did not start ({printable(str(error), 120)}); "
                "try starting it with `jupyter console`, or choose another kernel with --kernel."
            ) from error

    async def trace(self, device: DeviceWord | None) -> None:
        """Turn on tracing for the cells to come, and request a device.

        The device is checked when the notebook has imported its framework.
        """
        await self._ask(f"begin(get_ipython(), {device and str(device)!r})")

    async def refuse_missing_gpu(self) -> None:
        """Raise DeviceError if there is no GPU.

        Only a framework knows its GPUs, and importing it here would come before the notebook's own settings
        for it. So the kernel that imported it is replaced by a fresh one.
        """
        await self._ask("find_gpu(get_ipython())")
        await self.manager.restart_kernel(now=True)
        self._ends.clear()
        channels: Any = self._client.kc
        await channels.wait_for_ready(timeout=self._client.startup_timeout)

    async def check_device(self) -> None:
        """Raise DeviceError if a framework has started and the requested device does not exist."""
        await self._ask("check_device(get_ipython())")

    async def kernel_exit(self) -> KernelExit | None:
        """Return why the kernel died; None if it did not or the cause is not known."""
        provisioner = self.manager.provisioner
        status = await provisioner.poll() if provisioner is not None else None
        if status is None:
            return None
        from jupyter_mlgpu.explain.exits.kernel_exit import post_mortem

        pid = getattr(provisioner, "pid", None)
        ended = await self._ended_kernel()
        if ended is None:
            return post_mortem(None, ExitReport(pid=pid, status=status))
        return post_mortem(ended.flight_record, ended.complete_report(pid, status))

    async def _ended_kernel(self) -> EndedKernel | None:
        """Wait for the listener's report, which comes a moment after the kernel's connection ends."""
        until = time.monotonic() + REPORT_WITHIN
        while not self._ends and time.monotonic() < until:
            await asyncio.sleep(0.01)
        return self._ends[-1] if self._ends else None

    async def end(self, *, now: bool) -> None:
        """Shut the kernel down; `now` gives it no time to clean up."""
        if self.manager.has_kernel:
            if not now:
                await self._stop_tracing()
            await self.manager.shutdown_kernel(now=now)
        channels: Any = self._client.kc
        if channels is not None:
            channels.stop_channels()
        self._listener.stop()
        if self._flight_record is not None:  # remains if the kernel was killed or died
            flight_files.remove(self._flight_record)

    async def _stop_tracing(self) -> None:
        """Stop tracing: a kernel that is shut down logs an interrupt, which belongs to no cell."""
        if self._client.kc is not None:
            # A kernel that has died or does not answer is shut down all the same.
            with suppress(MlgpuError, DeadKernelError, TimeoutError, asyncio.TimeoutError):
                await asyncio.wait_for(self._ask("end(get_ipython())"), ANSWERS_WITHIN)

    async def _ask(self, call: str) -> None:
        # A silent execution is not stored in the notebook's history, and runs no cell hooks.
        channels: Any = self._client.kc
        message = channels.execute(f"{_OURS}.{call}", silent=True, store_history=False)
        reply = await self._client.async_wait_for_reply(message)
        content = reply["content"] if reply else {}
        if content.get("status") == "ok":
            return
        name, text = content.get("ename"), str(content.get("evalue"))
        if name in ("DeviceError", "OtherGpuError", "RestartNeededError"):
            raise DeviceError(text)
        raise MlgpuError(
            f"The kernel {self.name!r} cannot trace ({name}: {printable(text, 120)}); "
            "install jupyter_mlgpu in that kernel's Python, or choose another kernel with --kernel."
        )
