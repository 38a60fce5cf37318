"""Reads free disk space, and the folders that keep data and weights. Writes nothing."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from jupyter_mlgpu.explain.doctor.facts import Cache, Storage
from jupyter_mlgpu.explain.doctor.gather.tools import fact
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.sentence import say

#: Most seconds for adding up a cache's file sizes.
COUNTING_S = 0.5


def read(home: Path | None = None) -> Storage:
    """Return the facts about the folders that a notebook writes to."""
    home = home or Path.home()
    temporary = _temporary()
    return Storage(
        here_free=fact(lambda: shutil.disk_usage(Path.cwd()).free),
        home_free=fact(lambda: shutil.disk_usage(home).free),
        temporary_free=fact(lambda: shutil.disk_usage(temporary).free),
        home_writable=os.access(home, os.W_OK),
        temporary_writable=os.access(temporary, os.W_OK),
        shared_memory=fact(_shared_memory),
        caches=tuple(
            Cache(name, fact(lambda folder=folder: size(folder)), os.access(folder, os.W_OK))  # type: ignore[misc]
            for name, folder in folders(home).items()
            if folder.is_dir()
        ),
    )


def folders(home: Path) -> dict[str, Path]:
    """Return the folders where libraries keep downloads, as their documentation says, by library."""
    caches = {"keras": ("KERAS_HOME", ".keras"), "huggingface": ("HF_HOME", ".cache/huggingface")}
    for name in registry.FRAMEWORKS:
        caches |= registry.framework(name).caches
    return {name: Path(os.environ.get(set_by, home / usual)) for name, (set_by, usual) in caches.items()}


def size(folder: Path) -> int:
    """Return the bytes of all files under a folder; raises TimeoutError if there are too many to count."""
    end = real_time.monotonic() + COUNTING_S
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            total += os.lstat(os.path.join(where, name)).st_size
        if real_time.monotonic() > end:
            raise TimeoutError(
                say("it holds more files than can be counted in {seconds} s", seconds=f"{COUNTING_S:g}")
            )
    return total


def _temporary() -> Path:
    """Return the folder that Python's tempfile takes, which would write a file to choose it."""
    named = [Path(value) for name in ("TMPDIR", "TEMP", "TMP") if (value := os.environ.get(name))]
    folders = [*named, Path("/tmp"), Path("/var/tmp")]
    there = [one for one in folders if one.is_dir()]
    return next(
        (one for one in there if os.access(one, os.W_OK | os.X_OK)), there[0] if there else folders[0]
    )


def _shared_memory() -> int | None:
    # PyTorch's DataLoader passes batches through /dev/shm. Docker's default size is 64 MB.
    place = Path("/dev/shm")
    return shutil.disk_usage(place).total if place.is_dir() else None
