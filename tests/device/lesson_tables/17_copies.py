"""Measures copies to the GPU, copies while it computes, and pictures a second with 0 to 15 workers.

Arguments are the names of the tables to be measured, by default all: `python 17_copies.py 17_workers`.
"""

import runpy
import statistics
import subprocess
import sys
import time
import traceback
from pathlib import Path

import torch

from jupyter_mlgpu.lessons import figures

STRIPS = Path(__file__).parents[1] / "lesson_strips" / "17_starved.py"
MB = 1_000_000
#: Numbers of workers.
COUNTS = (0, 1, 2, 3, 4, 5, 6, 8, 12, 15)


def median_ms(work, times=20):
    """The median of some runs in milliseconds, the first three left out; each is waited for."""
    taken = []
    for _ in range(times + 3):
        torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        taken.append(1000 * (time.perf_counter() - start))
    return statistics.median(taken[3:])


def link():
    asked = "pcie.link.gen.max,pcie.link.gen.current,pcie.link.width.max,pcie.link.width.current"
    told = subprocess.run(
        ["nvidia-smi", f"--query-gpu={asked}", "--format=csv,noheader"], capture_output=True, text=True
    )
    print(told.stdout, told.stderr)
    most, now, lanes, used = told.stdout.splitlines()[0].split(", ")
    return [{"PCIe, at most": most, "PCIe, now": now, "lanes, at most": lanes, "lanes, now": used}]


def copies():
    rows = []
    for size in (1, 4, 16, 64, 256, 1024):
        host = torch.ones(size * MB, dtype=torch.uint8)
        there = torch.empty(size * MB, dtype=torch.uint8, device="cuda")
        row = {"MB": size}
        for name, source in (("pageable", host), ("pinned", host.pin_memory())):
            taken = median_ms(lambda a=there, b=source: a.copy_(b, non_blocking=True))
            row |= {f"{name}, ms": round(taken, 3), f"{name}, GB/s": round(size / taken, 1)}
        rows.append(row)
    return rows


def overlap():
    """The computing is begun first, then the copy: how long is Python held up, how long do both take?"""
    left, right = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    host = torch.ones(512 * MB, dtype=torch.uint8)
    there = torch.empty_like(host, device="cuda")
    beside = torch.cuda.Stream()
    held = []

    def compute():
        for _ in range(8):
            torch.matmul(left, right)

    def copy(source, stream):
        with torch.cuda.stream(stream):
            start = time.perf_counter()
            there.copy_(source, non_blocking=True)
            held.append(1000 * (time.perf_counter() - start))

    rows = []
    for name, source in (("pageable", host), ("pinned", host.pin_memory())):
        for where, stream in (("the same", torch.cuda.current_stream()), ("another", beside)):
            alone, copied = median_ms(compute), median_ms(lambda s=source, t=stream: copy(s, t))
            held.clear()
            both = median_ms(lambda s=source, t=stream: (compute(), copy(s, t)))
            rows.append(
                {
                    "memory": name,
                    "stream": where,
                    "computing, ms": round(alone, 2),
                    "copy, ms": round(copied, 2),
                    "both, ms": round(both, 2),
                    "Python held up, ms": round(statistics.median(held), 2),
                }
            )
    return rows


def workers():
    """Pictures a second of a later epoch: loading alone, and training the network of the strips with them."""
    strips = runpy.run_path(str(STRIPS))
    rows = []
    for count in COUNTS:
        row = {"workers": count}
        try:
            batches = 64 if count > 2 else 24 * max(1, count)
            loader = strips["loader"](batches, count)
            start = time.perf_counter()
            next(iter(loader))
            row["first batch ever, s"] = round(time.perf_counter() - start, 2)
            for _ in loader:  # until the workers are at rest
                pass
            for name, epoch in (("loading", lambda loader=loader: [None for _ in loader]),
                                ("training", lambda loader=loader: strips["train"](loader))):  # fmt: skip
                start = time.perf_counter()
                epoch()
                row[f"{name}, pictures/s"] = round(64 * batches / (time.perf_counter() - start))
            del loader
        except Exception:
            traceback.print_exc()
        print(row, flush=True)
        rows.append(row)
    start = time.perf_counter()
    strips["train"](strips["on_the_gpu"])
    took = time.perf_counter() - start
    rows.append(
        {"workers": "on the GPU", "training, pictures/s": round(64 * len(strips["on_the_gpu"]) / took)}
    )
    return rows


print(subprocess.run(["df", "-h", "/dev/shm"], capture_output=True, text=True).stdout)
for name, measure in (
    ("17_link", link),
    ("17_copies", copies),
    ("17_overlap", overlap),
    ("17_workers", workers),
):
    if sys.argv[1:] and name not in sys.argv[1:]:
        continue
    try:
        print(figures(name, measure()), flush=True)
    except Exception:
        traceback.print_exc()
