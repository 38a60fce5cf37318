"""What ends a kernel, or only looks like it: pieces of the table of planted deaths."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from jupyter_mlgpu.record.flight import flight_files, flight_record
from jupyter_mlgpu.record.flight.exit_report import ExitReport
from jupyter_mlgpu.record.flight.flight_record import (
    At,
    FlightRecord,
    KernelState,
    MemorySample,
    OomKills,
    Pages,
)
from tests.support.kernels import Notebook

GIB, MIB = 2**30, 2**20
NOW = 1_800_000_000.0
LIBC = "import ctypes; libc = ctypes.CDLL(None)\n"
#: The cell tells that it runs, and waits for what is done to it.
WAITS = "import pathlib, time\npathlib.Path('runs').touch()\ntime.sleep(60)"


def pid(notebook: Notebook) -> int:
    return notebook.manager.provisioner.pid


def running(then: Callable[[Notebook], object]) -> Callable[[Notebook], object]:
    """What is done when the cell runs."""

    def do(notebook: Notebook) -> None:
        deadline = time.monotonic() + 60
        while not (notebook.folder / "runs").exists():
            assert time.monotonic() < deadline, "the cell did not begin"
            time.sleep(0.01)
        then(notebook)

    return do


def sends(number: signal.Signals) -> Callable[[Notebook], object]:
    """Another process sends the signal, when the cell runs."""

    def send(notebook: Notebook) -> None:
        subprocess.run(["kill", f"-{number.value}", str(pid(notebook))], check=True)

    return running(send)


def kills_it(notebook: Notebook) -> None:
    """Another process kills it, whatever it does."""
    subprocess.run(["kill", "-9", str(pid(notebook))], check=True)


def account_of(notebook: Notebook) -> Path:
    return flight_files.folder() / str(flight_files.name_for(notebook.manager.connection_file))


def spoil(change: Callable[[Path], object]) -> Callable[[Notebook], object]:
    """Something happens to the account; then the cell, which waits for it, ends the kernel."""

    def do(notebook: Notebook) -> None:
        change(account_of(notebook))
        (notebook.folder / "go").touch()

    return running(do)


def after_go(code: str) -> str:
    return (
        "import pathlib, time\npathlib.Path('runs').touch()\n"
        f"while not pathlib.Path('go').exists(): time.sleep(0.01)\n{code}"
    )


def tear(path: Path) -> None:
    """A write of each part is stopped half-way."""
    data = bytearray(path.read_bytes())
    data[128:160] = b"\xff" * 32  # the slot that is written in every second turn
    data[4096 + 40 : 4096 + 80] = b"\x00" * 40
    with path.open("r+b") as file:
        file.write(data)


def replace_by_a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def forge(path: Path) -> None:
    """Somebody writes an account of another process, one that would be out of memory."""
    data = bytearray(flight_record.SIZE)
    pages = Pages(data)
    other = state(sample(used=15.9, kills=0))
    pages.put_at(At("running", NOW, 3, 3))
    pages.put_state(other)
    path.unlink()
    path.write_bytes(data)


def sample(
    *, used: float, kills: int | None = None, limit: float | None = None, at: float = NOW
) -> MemorySample:
    """Memory of a machine of 16 GiB, or of a container with a limit; `kills` were counted by then."""
    container = None if limit is None else int(used * GIB)
    return MemorySample(
        at,
        int(used * 0.8 * GIB),
        int(used * GIB),
        16 * GIB,
        container,
        None if limit is None else int(limit * GIB),
        0,
        0,
        (),
        OomKills(kills if limit is not None else None, kills),
    )


def state(seen: MemorySample | None, step: float = 0.0) -> KernelState:
    return KernelState(1, 4711, NOW - 100, "run", "host", NOW - 90, None, seen, int(step * GIB), ())


def died(
    seen: MemorySample | None,
    status: int | None = -9,
    *,
    kills: int | None = None,
    step: float = 0.0,
    **more: object,
) -> tuple[FlightRecord, ExitReport]:
    """A kernel of which this was seen last, half a second before it ended with this status."""
    kernel = FlightRecord(At("running", NOW - 12, 7, 7), state(seen, step))
    return kernel, ExitReport(pid=4711, status=status, at=NOW + 0.5, oom_kills=OomKills(None, kills), **more)  # type: ignore[arg-type]


FATAL = "2026-11-24 08:00:00.123456: F external/xla/xla/pjrt/client.cc:85] Check failed: status == OK"
NO_DEVICE_MEMORY = (
    "libc++abi: terminating due to uncaught exception of type std::runtime_error: [METAL] Command buffer "
    "execution failed: Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)"
)
LOST = (
    "2026-11-24 08:00:00.123456: E tensorflow/stream_executor/cuda/cuda_driver.cc:1163] could not "
    "synchronize on CUDA context: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered"
)


def says(line: str, then: str) -> str:
    return f"{LIBC}import os\nos.write(2, {line.encode() + bytes([10])!r})\n{then}"


ABORT = "libc.abort()"
#: Bytes of a machine's code, called as a function: ud2 of x86-64, udf of arm64.
ILLEGAL = (
    LIBC
    + """import mmap, platform
page = mmap.mmap(-1, 4096, prot=7)
page.write(b"\\x0f\\x0b" if platform.machine() == "x86_64" else bytes(4))
ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()"""
)
BUS = """import mmap, os
with open('cut', 'wb+') as file:
    file.write(bytes(8192)); file.flush()
    page = mmap.mmap(file.fileno(), 8192)
    os.truncate('cut', 0)
    page[5000]"""
FILLS = """pieces = []
while True:
    pieces.append(bytearray(b'x') * {mib} * 2**20)
    {pause}"""

#: A batch of so many rows of 1 MiB each, in the time in which somebody looks.
ROWS = """rows = {}
batch = []
for _ in range(rows):
    batch.append(bytearray(b"x") * 2**20)
    time.sleep(0.002)
time.sleep(1.0)
del batch"""


def in_a_thread(code: str) -> str:
    lines = code.replace("\n", "\n    ")
    start = "threading.Thread(target=work).start()"
    return f"import threading, time\ndef work():\n    {lines}\n{start}\ntime.sleep(30)"


def nested(code: str) -> str:
    return f"get_ipython().run_cell({code!r})"


def restart(notebook: Notebook, now: bool = False) -> None:
    notebook.manager.restart_kernel(now=now)


def shut_down(notebook: Notebook) -> None:
    notebook.manager.shutdown_wait_time = 1.0
    notebook.manager.shutdown_kernel()
