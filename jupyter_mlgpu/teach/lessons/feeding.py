"""Pictures on disk for lesson 17, the rate at which threads or processes work on them, and an H200's rates.

`brighter` is here and not only in the lesson because a process has to import what it is to run.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.teach.lessons import recordings

#: Length and width of the saved pictures.
SIDE = 320


def save_pictures(folder: str, count: int = 320) -> list[Path]:
    """Save pieces of two photographs as JPEG files, in turn, and return their paths in order.

    The photographs are scikit-learn's sample images, a temple and a flower. Each piece is cut at random.
    """
    import numpy as np
    from PIL import Image
    from sklearn.datasets import load_sample_images

    photographs = load_sample_images().images
    draw = np.random.default_rng(0)
    paths = []
    for number in range(count):
        photograph = photographs[number % 2]
        height, width = photograph.shape[:2]
        top, left = draw.integers(0, height - SIDE), draw.integers(0, width - SIDE)
        paths.append(Path(folder) / f"{number:03}.jpg")
        Image.fromarray(photograph[top : top + SIDE, left : left + SIDE]).save(paths[-1], quality=90)
    return paths


def rate(
    work: Callable[[Any], object], items: Sequence[Any], workers: int, *, processes: bool = False
) -> float:
    """Return the items a second that threads or processes work on together, the best of three times.

    The processes are started, and have imported `work`, before the time is taken.
    """
    with _pool(workers, processes) as pool:
        list(pool.map(work, items[:workers]))
        return len(items) / min(_seconds(pool, work, items) for _ in range(3))


def _pool(workers: int, processes: bool) -> Executor:
    if processes:
        return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))
    return ThreadPoolExecutor(workers)


def _seconds(pool: Executor, work: Callable[[Any], object], items: Sequence[Any]) -> float:
    start = real_time.perf_counter()
    list(pool.map(work, items, chunksize=16))
    return real_time.perf_counter() - start


@dataclass(frozen=True)
class RecordedWorkers:
    """Pictures a second on another machine: rows by number of workers, and with all batches on its GPU.

    A row has "workers", "loading, pictures/s" (without a network) and "training, pictures/s". `note` names
    the machine and the date.
    """

    note: str
    workers: tuple[Mapping[str, Any], ...]
    on_the_gpu: float


def recorded_workers() -> RecordedWorkers:
    """Return what was measured on an H200 with different numbers of workers.

    Raises UsageError if the recording is missing.
    """
    recording = recordings.find("17_workers", on_gpus=True)
    if recording is None:
        raise UsageError("The recording 17_workers is missing: install jupyter-mlgpu again.")
    *workers, on_the_gpu = recording.data["rows"]
    return RecordedWorkers(str(recording), tuple(workers), on_the_gpu["training, pictures/s"])


def brighter(pixels: bytes) -> bytes:
    """Return the bytes of a picture a quarter brighter, computed one by one in Python."""
    return bytes([min(255, one + one // 4) for one in pixels])
