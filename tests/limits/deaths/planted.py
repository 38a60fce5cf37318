"""Planted deaths: small programs whose end has a cause by construction, and ends that are no death.

What only a machine in trouble would show (a machine out of memory, an eviction by a cluster, a Mac) is told
to the verdict as facts: `simulated`, and the table says so.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from jupyter_mlgpu.explain.exits.exit_cause import Cause
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
    """Wait until the cell runs, and then do this."""

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


@dataclass(frozen=True)
class Planted:
    """`code` is the cell that ends the kernel, or `do` ends it; `cause` is None where that is no death.

    `first` is run before the extension is loaded, `before` after it. `limit` is the memory, in bytes, of a
    control group that the kernel is put into. `simulated` are facts instead of a kernel. `fitting`
    begins what is said of the size that would have fitted; where it is None, nothing is.
    """

    name: str
    cause: Cause | None
    code: str | None = None
    do: Callable[[Notebook], object] | None = None
    first: str | None = None
    before: tuple[str, ...] = ()
    limit: int | None = None
    simulated: tuple[FlightRecord, ExitReport] | None = None
    quick: bool = False
    fitting: str | None = None


KILLED = [
    Planted("killed by another process in a cell", "killed", WAITS, sends(signal.SIGKILL), quick=True),
    Planted("killed while no cell runs", "killed", do=kills_it, before=("1",)),
    Planted("killed before its first cell", "killed", do=kills_it),
    Planted("killed with tracing off", "killed", WAITS, sends(signal.SIGKILL), before=("%mlc_trace off",)),
    Planted("killed in a cell in a cell", "killed", nested(WAITS), sends(signal.SIGKILL)),
    Planted("asked to end by SIGTERM", "killed", WAITS, sends(signal.SIGTERM)),
    Planted("its terminal has gone (SIGHUP)", "killed", WAITS, sends(signal.SIGHUP)),
    Planted("its time for computing is over", "killed", "import resource\nresource.setrlimit("
            "resource.RLIMIT_CPU, (int(time.process_time()) + 1,) * 2)\nwhile True: pass",
            before=("import time",)),
    Planted("an alarm that nobody takes", "killed", "import signal, time\nsignal.alarm(1)\ntime.sleep(30)"),
    Planted("simulated: killed with much memory free", "killed",
            simulated=died(sample(used=4, kills=2), kills=2)),
    Planted("simulated: a watcher kills at 15.5 of 16 GiB", "killed",
            simulated=died(sample(used=15.5, kills=2), kills=2)),
    Planted("simulated: killed on a Mac with much memory free", "killed", simulated=died(sample(used=5))),
]  # fmt: skip

CRASHES = [
    Planted("a null pointer is read", "crash", LIBC + "ctypes.string_at(0)", quick=True),
    Planted("a null pointer is read in a thread", "crash", in_a_thread(LIBC + "ctypes.string_at(0)")),
    Planted("a null pointer is read in a cell in a cell", "crash", nested(LIBC + "ctypes.string_at(0)")),
    Planted("memory that is not its own is written", "crash", LIBC + "ctypes.memset(4096, 0, 64)"),
    Planted("a crash with faulthandler on", "crash",
            "import faulthandler; faulthandler.enable()\n" + LIBC + "ctypes.string_at(0)"),
    Planted("an instruction that there is not", "crash", ILLEGAL),
    Planted("a file in memory is cut", "crash", BUS),
    Planted("a division by zero in C", "crash", LIBC + "libc.div(1, 0)"),
    Planted("a crash while no cell runs", "crash", before=("import threading, ctypes",
            "threading.Timer(0.3, ctypes.string_at, [0]).start()")),
    Planted("a crash with tracing off", "crash", LIBC + "ctypes.string_at(0)", before=("%mlc_trace off",)),
    # Nobody can tell it from a crash: the one that must go wrong, and never surely.
    Planted("somebody sends SIGSEGV", "killed", WAITS, sends(signal.SIGSEGV)),
]  # fmt: skip

ABORTS = [
    Planted("abort of C", "abort", LIBC + ABORT),
    Planted("a check of C++ fails", "abort", says(FATAL, ABORT), quick=True),
    Planted("a check of C++ fails in a thread", "abort", in_a_thread(says(FATAL, ABORT))),
    Planted("an assertion of C fails", "abort", LIBC + "libc.__assert_fail(b'n > 0', b'a.c', 3, b'main')"),
    Planted("nobody catches std::bad_alloc", "abort",
            "import ctypes; ctypes.CDLL('libstdc++.so.6')._ZSt17__throw_bad_allocv()"),
    Planted("the heap is damaged", "abort", LIBC + "block = ctypes.create_string_buffer(256)\n"
            "libc.free(ctypes.c_void_p(ctypes.addressof(block) + 64))"),
    Planted("os.abort", "abort", "import os; os.abort()"),
    Planted("abort with tracing off", "abort", says(FATAL, ABORT), before=("%mlc_trace off",)),
    Planted("abort while no cell runs", "abort",
            before=("import threading, os", "threading.Timer(0.3, os.abort).start()")),
    Planted("a Mac's GPU has no more memory", "device_memory", says(NO_DEVICE_MEMORY, ABORT)),
    Planted("the GPU's context is lost", "device_lost", says(LOST, ABORT)),
    Planted("a message of an earlier cell is none of this abort", "abort", LIBC + ABORT,
            before=(says(NO_DEVICE_MEMORY, ""),)),
]  # fmt: skip

EXITS = [
    Planted("os._exit(0)", "exit", "import os; os._exit(0)"),
    Planted("os._exit(3)", "exit", "import os; os._exit(3)", quick=True),
    Planted("os._exit(137), as a shell tells SIGKILL", "exit", "import os; os._exit(137)"),
    Planted("os._exit in a thread", "exit", in_a_thread("import os; os._exit(5)")),
    Planted("exit of C", "exit", LIBC + "libc.exit(5)"),
    Planted("exit() in a cell", "exit", "exit()"),
    Planted("another program in its place", "exit", "import os; os.execv('/bin/true', ['true'])"),
    Planted("os._exit while no cell runs", "exit",
            before=("import threading, os", "threading.Timer(0.3, os._exit, [4]).start()")),
]  # fmt: skip

SPOILED = [
    Planted("an account half written", "exit", after_go("import os; os._exit(3)"), spoil(tear)),
    Planted("an account of garbage", "crash", after_go(LIBC + "ctypes.string_at(0)"),
            spoil(lambda path: path.write_bytes(b"\x00\xff" * 5000))),
    Planted("no account", "exit", after_go("import os; os._exit(3)"), spoil(Path.unlink)),
    Planted("a pipe for an account", "crash", after_go(LIBC + "ctypes.string_at(0)"),
            spoil(replace_by_a_pipe)),
    Planted("an account that somebody forged", "killed", WAITS, running(
            lambda notebook: (forge(account_of(notebook)), kills_it(notebook)))),
    Planted("a folder that may not be written", "exit", "import os; os._exit(3)",
            first="from pathlib import Path\nfrom jupyter_mlgpu.record.flight import flight_files\n"
            "places.folder = lambda: Path('/proc')"),
    Planted("a full disk, pretended", "exit", "import os; os._exit(3)", first="import os\nreal = os.write\n"
            "os.write = lambda number, data: real(number, data[: 100 if len(data) > 30000 else None])"),
]  # fmt: skip

OF_MEMORY = [
    Planted("a container's memory is filled at once", "container_memory",
            FILLS.format(mib=64, pause="pass"), limit=300 * MIB),
    Planted("a container's memory is filled slowly", "container_memory",
            FILLS.format(mib=16, pause="__import__('time').sleep(0.15)"), limit=300 * MIB),
    Planted("a container's memory is filled in a thread", "container_memory",
            in_a_thread(FILLS.format(mib=16, pause="time.sleep(0.02)")), limit=300 * MIB),
    Planted("a container's memory is filled while no cell runs", "container_memory",
            before=("import threading, time", in_a_thread(FILLS.format(mib=32, pause="time.sleep(0.02)"))
                    .replace("time.sleep(30)", "")), limit=300 * MIB),
    Planted("a third size fills a container's memory", "container_memory", ROWS.format(512),
            before=("import time", ROWS.format(32), ROWS.format(64)), limit=400 * MIB,
            fitting="With rows = 64 it needed 3"),
    Planted("killed after a child was out of memory", "killed", "import subprocess, sys, time, pathlib\n"
            "subprocess.run([sys.executable, '-c', 'b = bytearray(2**30)'])\ntime.sleep(1.5)\n"
            "pathlib.Path('runs').touch()\ntime.sleep(30)", sends(signal.SIGKILL), limit=300 * MIB),
    Planted("simulated: the machine is out of memory", "machine_memory",
            simulated=died(sample(used=15.5, kills=2), kills=3)),
    Planted("simulated: the log of the machine names it", "machine_memory",
            simulated=died(sample(used=9, kills=2), kills=3, named="machine")),
    Planted("simulated: a pod is evicted at its limit, nothing is counted", "container_memory",
            simulated=died(sample(used=3.9, limit=4))),
    Planted("simulated: a Mac at 15.6 of 16 GiB", "machine_memory", simulated=died(sample(used=15.6))),
    Planted("simulated: one step more than there is", "machine_memory",
            simulated=died(sample(used=12), step=6)),
]  # fmt: skip

NO_DEATHS = [
    Planted("a restart that the user wants", None, do=restart, before=("1",), quick=True),
    Planted("a restart while a cell runs", None, WAITS, running(restart)),
    Planted("a restart by force", None, WAITS, running(lambda notebook: restart(notebook, now=True))),
    Planted("a shutdown", None, do=shut_down, before=("1",)),
    Planted("a shutdown of what hangs in C", None, LIBC + "import pathlib; pathlib.Path('runs').touch()\n"
            "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            "ctypes.PyDLL(None).sleep(30)", running(shut_down)),
    Planted("an interrupt", None, WAITS, running(lambda notebook: notebook.manager.interrupt_kernel())),
    Planted("a MemoryError", None, "import resource\nbefore = resource.getrlimit(resource.RLIMIT_AS)\n"
            f"resource.setrlimit(resource.RLIMIT_AS, ({4 * GIB}, before[1]))\n"
            f"try: bytearray({8 * GIB})\nfinally: resource.setrlimit(resource.RLIMIT_AS, before)"),
    Planted("sys.exit in a thread", None, "import threading, sys\n"
            "one = threading.Thread(target=sys.exit, args=[3]); one.start(); one.join()"),
    Planted("SystemExit in a cell", None, "raise SystemExit(3)"),
    Planted("a child process crashes", None, "import subprocess, sys\n"
            "subprocess.run([sys.executable, '-c', 'import os; os.abort()'])"),
    Planted("a forked child is killed", None, "import os\nchild = os.fork()\n"
            "if child == 0:\n    os.kill(os.getpid(), 9)\nos.waitpid(child, 0)"),
    Planted("the size that would have fitted, as it was told", None, ROWS.format(256),
            before=("import time", ROWS.format(32), ROWS.format(64)), limit=400 * MIB),
    Planted("a child is out of the container's memory", None, "import subprocess, sys\n"
            "subprocess.run([sys.executable, '-c', 'b = bytearray(2**30)'])", limit=300 * MIB),
]  # fmt: skip

PLANTED = [*KILLED, *CRASHES, *ABORTS, *EXITS, *SPOILED, *OF_MEMORY, *NO_DEATHS]
