"""Profile a cell without us, by samples of the main thread's stack, clocks, and `perf`."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import types
from collections.abc import Sequence
from pathlib import Path

from tests.limits.cells import Cells, in_a_fresh_process
from tests.limits.contradicting import Profile
from tests.limits.load import Waited, disturbance
from tests.limits.program import Program

#: Where a function traces or compiles: a part of the file's path, and of the function's name.
COMPILING = re.compile(
    r"tensorflow/python/(autograph/|eager/polymorphic_function/tracing_compilation\.py:(trace|maybe_define))"
    r"|torch/(_dynamo/(convert_frame|symbolic_convert|output_graph)|_inductor/|_functorch/|export/|jit/)"
    r"|jax/_src/(compiler|interpreters/(partial_eval|mlir)|stages)\.py"
)
#: Where a library gets data ready.
GETTING = re.compile(
    r"torch/utils/data/|tensorflow/python/data/ops/iterator_ops|keras/src/(trainers/data_adapters|utils/image)"
)
PIPELINE = re.compile(r"tf\.data|image_dataset_from_directory|layers\.TextVectorization")
#: The interpreter's own libraries, with what it calls below itself.
INTERPRETER = re.compile(
    r"python3?[\d.]*$|libpython|/libc[.-]|ld-linux|\[vdso\]|\[kernel|lib-dynload|libm[.-]"
)
PERIOD = 0.005
PERF_A_SECOND = 199


class Stacks:
    """Samples of the main thread's stack, each with the seconds since the one before.

    While a library holds the GIL nothing is sampled, and that time goes to the stack that is
    seen next: the same one, for it did not move.
    """

    def __init__(self, getters: Sequence[str]) -> None:
        self._getters = getters
        self._main = threading.get_ident()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self.seconds = {"compiling": 0.0, "getting": 0.0}

    def __enter__(self) -> Stacks:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()

    def _sample(self) -> None:
        before = time.perf_counter()
        while not self._over.wait(PERIOD):
            frame = sys._current_frames().get(self._main)
            now = time.perf_counter()
            for group in self._groups(frame):
                self.seconds[group] += now - before
            before = now

    def _groups(self, frame: types.FrameType | None) -> set[str]:
        groups = set()
        while frame is not None:
            code = frame.f_code
            place = f"{code.co_filename}:{code.co_name}"
            if COMPILING.search(place):
                groups.add("compiling")
            if GETTING.search(place) or code.co_name in self._getters:
                groups.add("getting")
            frame = frame.f_back
        return groups


class Perf:
    """Samples by `perf record` of the libraries that the threads are in; none where it cannot run."""

    def __init__(self, folder: Path) -> None:
        self._data = folder / "perf.data"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Perf:
        if shutil.which("perf") is None:
            return self
        control, told = os.pipe()
        answers, answered = os.pipe()
        words = f"record -q -F {PERF_A_SECOND} -e cpu-clock -D -1 -p {os.getpid()} -o {self._data}"
        self._process = subprocess.Popen(
            ["perf", *words.split(), "--control", f"fd:{control},{answered}"],
            pass_fds=(control, answered),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(control)
        os.close(answered)
        os.write(told, b"enable\n")
        if not os.read(answers, 16).startswith(b"ack"):  # it has ended: it may not look at processes here
            self._process = None
        return self

    def __exit__(self, *error: object) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait()

    def shares(self, seconds: float) -> tuple[float, float] | None:
        """Return the parts of these seconds of the main thread in the interpreter and of all in libraries."""
        if self._process is None:
            return None
        # Without the libraries at hand it does not read their symbols, which takes half a minute.
        words = ["perf", "script", "-i", str(self._data), "-F", "tid,ip,dso", "--symfs", "/nowhere"]
        told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        main, native = 0, 0
        for line in told.splitlines():
            found = re.match(r"\s*(?:\d+/)?(\d+)\s+[0-9a-f]+\s+\((.*)\)", line)
            if found is None:
                continue
            if not INTERPRETER.search(found[2]):
                native += 1
            elif int(found[1]) == os.getpid():
                main += 1
        whole = PERF_A_SECOND * seconds
        return min(1.0, main / whole), min(1.0, native / whole)


def profiled(ordinary: Program) -> Profile:
    """Run a cell here twice, and return the profile of the first run."""
    cells = Cells()
    for setup in ordinary.before:
        cells.run(setup)
    ready = cells.compiled(ordinary.code)
    with tempfile.TemporaryDirectory() as folder:
        with Perf(Path(folder)) as perf, Stacks(ordinary.clock.split()[1:]) as stacks:
            waited, faults = Waited.of(os.getpid()), resource.getrusage(resource.RUSAGE_SELF).ru_majflt
            begun, main, own = time.perf_counter(), time.thread_time(), time.process_time()
            cells.run(ready)
            seconds = time.perf_counter() - begun
            used, own = time.thread_time() - main, time.process_time() - own
            faults = resource.getrusage(resource.RUSAGE_SELF).ru_majflt - faults
            after = Waited.of(os.getpid())
        late = after.delays.get(os.getpid(), 0.0) - waited.delays.get(os.getpid(), 0.0)
        # Of the time in which it could run: what waits for a core is nowhere.
        shares = perf.shares(max(seconds - late, 0.01))
    begun = time.perf_counter()
    cells.run(ready)
    again = time.perf_counter() - begun
    return Profile(
        seconds=seconds,
        idle=max(0.0, 1 - (own + late) / seconds),
        main=min(1.0, (used + late) / seconds),
        compiling=min(1.0, stacks.seconds["compiling"] / seconds),
        getting=min(1.0, stacks.seconds["getting"] / seconds),
        saved=max(0.0, 1 - again / seconds),
        delayed=disturbance(waited, after, seconds) if after.delays else None,
        interpreter=None if shares is None else shares[0],
        native=None if shares is None else shares[1],
        pipeline=PIPELINE.search("\n".join([*ordinary.before, ordinary.code])) is not None,
        major_faults=faults,
    )


def profile_of(ordinary: Program) -> Profile:
    """Profile a cell in a process of its own."""
    (profile,) = in_a_fresh_process(profiled, [ordinary])
    return profile
