"""The kernel that a notebook is run in: started, asked to trace, watched, and ended."""

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
from jupyter_mlgpu.jupyter.exits.listener import ExitListener, Seen
from jupyter_mlgpu.record import language
from jupyter_mlgpu.record.device_request import DeviceWord
from jupyter_mlgpu.record.errors import DeviceError, MlgpuError, UsageError
from jupyter_mlgpu.record.flight import flight_files
from jupyter_mlgpu.record.flight.exit_report import ExitReport

if TYPE_CHECKING:
    from jupyter_mlgpu.explain.exits.kernel_exit import KernelExit

#: Seconds in which a kernel that is about to be ended has read the last lines of its cells.
ANSWERS_WITHIN = 10.0
#: Seconds in which the end of a kernel is seen that was lost.
SEEN_WITHIN = 2.5
_OURS = "__import__('jupyter_mlgpu.jupyter.notebook.headless', fromlist=['headless'])"


class Kernel:
    """A kernel of its own for one run; `name` is that of an installed kernel."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.manager = AsyncKernelManager(kernel_name=name)
        self._ends: list[Seen] = []
        self._listener = ExitListener(self._ends.append)
        self._account: Path | None = None

    def check(self) -> None:
        """Raise UsageError where no such kernel is installed, or it is not one for Python."""
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
        with suppress(OSError):  # then less is known of a death
            environment[VARIABLE] = self._listener.start()
        try:
            await client.async_start_new_kernel(
                cwd=str(notebook.parent),
                env=environment,
                # What a kernel says outside its cells would tear the progress bar.
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            await client.async_start_new_kernel_client()
            name = flight_files.name_for(self.manager.connection_file)
            self._account = None if name is None else flight_files.folder() / name
        except (OSError, RuntimeError) as error:
            raise MlgpuError(
                f"The kernel {self.name!r} did not start ({printable(str(error), 120)}); "
                "try starting it with `jupyter console`, or choose another kernel with --kernel."
            ) from error

    async def trace(self, device: DeviceWord | None) -> None:
        """Turn tracing on for the cells to come, and ask for a device.

        Whether that device exists is known when the notebook has imported its framework.
        """
        await self._ask(f"begin(get_ipython(), {device and str(device)!r})")

    async def refuse_missing_gpu(self) -> None:
        """Raise DeviceError where there is no GPU.

        Only a framework knows its GPUs, and to import it here would come before the notebook's own
        settings for it: so the kernel that imported it is replaced by a fresh one.
        """
        await self._ask("find_gpu(get_ipython())")
        await self.manager.restart_kernel(now=True)
        self._ends.clear()
        channels: Any = self._client.kc
        await channels.wait_for_ready(timeout=self._client.startup_timeout)

    async def check_device(self) -> None:
        """Raise DeviceError where a framework is at work and the device asked for is not there."""
        await self._ask("check_device(get_ipython())")

    async def kernel_exit(self) -> KernelExit | None:
        """Why the kernel died; None where that is not known, or it did not."""
        provisioner = self.manager.provisioner
        status = await provisioner.poll() if provisioner is not None else None
        if status is None:
            return None
        from jupyter_mlgpu.explain.exits.kernel_exit import post_mortem

        pid = getattr(provisioner, "pid", None)
        seen = await self._seen()
        if seen is None:
            return post_mortem(None, ExitReport(pid=pid, status=status))
        return post_mortem(seen.flight_record, seen.ended(pid, status))

    async def _seen(self) -> Seen | None:
        """What was seen of the kernel's end; a moment later than that of its connection."""
        until = time.monotonic() + SEEN_WITHIN
        while not self._ends and time.monotonic() < until:
            await asyncio.sleep(0.01)
        return self._ends[-1] if self._ends else None

    async def end(self, *, now: bool) -> None:
        """Shut the kernel down; `now` gives it no time for its own cleaning up."""
        if self.manager.has_kernel:
            if not now:
                await self._stop_tracing()
            await self.manager.shutdown_kernel(now=now)
        channels: Any = self._client.kc
        if channels is not None:
            channels.stop_channels()
        self._listener.stop()
        if self._account is not None:  # of one that was killed, or died
            flight_files.remove(self._account)

    async def _stop_tracing(self) -> None:
        """An ending kernel is interrupted, and logs it: that is no cell's doing."""
        if self._client.kc is not None:
            # A kernel that is gone, or does not answer, is ended all the same.
            with suppress(MlgpuError, DeadKernelError, TimeoutError, asyncio.TimeoutError):
                await asyncio.wait_for(self._ask("end(get_ipython())"), ANSWERS_WITHIN)

    async def _ask(self, call: str) -> None:
        # A silent execution leaves no trace in the notebook's history, and no cell hooks run.
        channels: Any = self._client.kc
        message = channels.execute(f"{_OURS}.{call}", silent=True, store_history=False)
        reply = await self._client.async_wait_for_reply(message)
        content = reply["content"] if reply else {}
        if content.get("status") == "ok":
            return
        name, text = content.get("ename"), str(content.get("evalue"))
        if name in ("DeviceError", "RestartNeededError"):
            raise DeviceError(text)
        raise MlgpuError(
            f"The kernel {self.name!r} cannot trace ({name}: {printable(text, 120)}); "
            "install jupyter_mlgpu in that kernel's Python, or choose another kernel with --kernel."
        )
