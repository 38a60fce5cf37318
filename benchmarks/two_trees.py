"""Two trees of the package and none, in kernels of one Python that take turns: what loading and a cell cost.

    python -m benchmarks.two_trees BEFORE AFTER ROUNDS
    python -m benchmarks.two_trees BEFORE AFTER ROUNDS --second   # cells of one second: see `one_second.py`

It needs ipykernel, jupyter_client, IPython and msgspec, and NumPy for one sort of cell with `--second`; the
trees need not be installed. Prints, of each round's three kernels, the medians, and of the differences within
a round the median with its 95 % interval. Times are the client's, from sending a cell to its reply; loading
is timed inside the kernel.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import start_new_kernel

from benchmarks import one_second, report
from jupyter_mlgpu.explain.statistics import median_interval

#: Not asleep, so that what we do in other threads shows, and as long as a clock says.
BUSY = "_end = _time.perf_counter() + 0.1\nwhile _time.perf_counter() < _end: pass"
LOAD = "_start = _time.perf_counter()\nget_ipython().run_line_magic('load_ext', 'jupyter_mlgpu')"


def run(client: BlockingKernelClient, code: str) -> float:
    """Seconds from sending a cell to its reply."""
    start = time.perf_counter()
    message = client.execute(code)
    while True:
        reply = client.get_shell_msg(timeout=60)
        if reply["parent_header"].get("msg_id") == message:
            break
    seconds = time.perf_counter() - start
    assert reply["content"]["status"] == "ok", reply["content"]
    # Its receipt comes after the reply: the next cell begins when the kernel has nothing left to do.
    time.sleep(0.03)
    return seconds


def one(tree: str | None) -> dict[str, float]:
    """A kernel's figures, in milliseconds."""
    environment = {**os.environ, "PYTHONPATH": one_second.python_path(tree), "IPYTHONDIR": tempfile.mkdtemp()}
    manager, client = start_new_kernel(env=environment)
    try:
        run(client, "import time as _time")
        if tree:
            seconds = "_seconds = _time.perf_counter() - _start"
            told = "import jupyter_mlgpu as _ours; assert _ours.__file__.startswith(" + repr(tree) + ")"
            run(client, f"{LOAD}\n{seconds}\n{told}")
            reply = client.execute("", user_expressions={"s": "_seconds"}, reply=True, timeout=60)
            loading = float(reply["content"]["user_expressions"]["s"]["data"]["text/plain"]) * 1e3
        for _ in range(5):
            run(client, "pass")
        empty = median(run(client, "pass") for _ in range(25)) * 1e3
        busy = median(run(client, BUSY) for _ in range(9)) * 1e3
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    return {"empty cell": empty, "cell of 100 ms": busy, **({"%load_ext": loading} if tree else {})}


def measure(before: str, after: str, rounds: int) -> None:
    """Measure loading and short cells, and print a table."""
    trees = {"before": before, "after": after, "none": None}
    for tree in trees.values():
        one(tree)  # bytecode is written once
    measured: list[dict[str, dict[str, float]]] = []
    for _ in range(rounds):
        order = random.sample(sorted(trees), 3)
        measured.append({name: one(trees[name]) for name in order})
        print(".", end="", flush=True, file=sys.stderr)
    for what in ("%load_ext", "empty cell", "cell of 100 ms"):
        known = [name for name in ("none", "before", "after") if what in measured[0][name]]
        medians = ", ".join(f"{name} {median(each[name][what] for each in measured):.3f}" for name in known)
        print(f"{what} (ms, median of {rounds} kernels): {medians}")
        for first, second in (("before", "after"), ("none", "before"), ("none", "after")):
            if first in known:
                differences = [each[second][what] - each[first][what] for each in measured]
                found = median_interval(differences)
                interval = (
                    f" [{found.low:+.3f} to {found.high:+.3f}]" if found else ", too few for an interval"
                )
                print(f"  {second} less {first}: {median(differences):+.3f}{interval}")


def main() -> int:
    """Measure and report; 1 where `--second` finds a cost above its target beyond doubt."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.two_trees",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("before", type=Path, help="a folder with the package in it")
    parser.add_argument("after", type=Path, help="another one")
    parser.add_argument("rounds", type=report.at_least_one)
    parser.add_argument("--second", action="store_true", help="cells of one second of fixed work")
    report.add_out(parser)
    given = parser.parse_args()
    before, after = str(given.before.resolve()), str(given.after.resolve())
    if given.out is not None and not given.second:
        parser.error("--out belongs to --second")
    if given.second:
        return one_second.main({"before": before, "after": after}, given.rounds, given.out)
    measure(before, after, given.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
