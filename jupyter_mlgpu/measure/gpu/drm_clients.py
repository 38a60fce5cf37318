"""The GPU clients of this process on Linux, and the nanoseconds that a DRM driver counts for each.

The kernel lists them in /proc/self/fdinfo, with a file for each open file of a GPU (Documentation/gpu/
drm-usage-stats.rst): `drm-engine-NAME: N ns`, `drm-engine-capacity-NAME` if a name stands for several
engines, and `drm-client-id` and `drm-pdev`, by which the same client in several files counts once. A count
may be too low for a while; then the larger one before it holds. Not yet run on an AMD or Intel GPU.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from jupyter_mlgpu.measure.gpu.gpu_clients import CounterError, GpuClient
from jupyter_mlgpu.record.reading import FDINFO
from jupyter_mlgpu.record.sentence import Sentence, say

DETAIL = say("the kernel's count of this process's GPU time (fdinfo), engines apart")
NOT_OPENED = say("This process has not opened the GPU.")
# The maintainer of amdgpu_top found none of ROCm's work in fdinfo (Umio-Yasuno/amdgpu_top, issue 49).
ROCM = say("The kernel does not count the GPU time of ROCm, which this process uses.")

_ENGINE, _CAPACITY = "drm-engine-", "drm-engine-capacity-"
_NANOSECONDS = re.compile(r"(\d{1,19}) ns")


def gpu_drivers(root: Path = Path("/")) -> dict[str, str]:
    """Return the drivers of this machine's GPUs by name in /dev/dri, without NVIDIA's."""
    found = {}
    try:
        names = sorted(os.listdir(root / "dev/dri"))
    except OSError:
        return {}
    for name in names:
        if name.startswith("renderD"):
            try:
                driver = os.path.basename(os.readlink(root / "sys/class/drm" / name / "device/driver"))
            except OSError:
                continue
            if not driver.startswith("nvidia"):
                found[name] = driver
    return found


class DrmClients:
    """The clients that this process has opened, found by the links of its open files."""

    source = FDINFO
    detail = DETAIL

    def __init__(self, root: Path = Path("/")) -> None:
        self._process = root / "proc/self"
        self._files: list[str] = []
        self._rocm = False
        #: The largest counts so far of each client.
        self._highest: dict[str, dict[str, int]] = {}

    def read(self, search: bool) -> Sequence[GpuClient]:
        """Return this process's clients; without `search`, only known ones that still exist."""
        if search:
            self._search()
        found: dict[str, GpuClient] = {}
        for name in self._files:
            try:
                text = (self._process / "fdinfo" / name).read_text(errors="replace")
            except FileNotFoundError:  # closed since the search
                continue
            client = parse(text, name)
            if client is not None and client.key not in found:
                found[client.key] = self._with_highest_counts(client)
        if search:
            self._highest = {key: dict(client.counts) for key, client in found.items()}
        return list(found.values())

    def why_none(self, clients: Sequence[GpuClient]) -> Sentence | None:
        """Return the reason if these clients have no GPU time, None if they may have some."""
        if self._rocm:
            return ROCM
        if not clients:
            return NOT_OPENED
        silent = [client.driver for client in clients if not client.counts]
        # AMD's driver counts a client only once it has work.
        if len(silent) == len(clients) and set(silent) != {"amdgpu"}:
            return say(
                "The driver {driver} counts no GPU time of processes.", driver=", ".join(sorted({*silent}))
            )
        return None

    def close(self) -> None:
        """Forget the files that were found."""
        self._files, self._highest, self._rocm = [], {}, False

    def _search(self) -> None:
        files, rocm = [], False
        for name in os.listdir(self._process / "fd"):
            try:
                target = os.readlink(self._process / "fd" / name)
            except FileNotFoundError:  # closed meanwhile, like the listing's own
                continue
            if target.startswith("/dev/dri/"):
                files.append(name)
            rocm = rocm or target == "/dev/kfd"
        self._files, self._rocm = sorted(files), rocm

    def _with_highest_counts(self, client: GpuClient) -> GpuClient:
        highest = self._highest.setdefault(client.key, {})
        for engine, count in client.counts.items():
            highest[engine] = max(count, highest.get(engine, 0))
        return GpuClient(client.gpu, client.key, dict(highest), client.capacity, client.driver)


def parse(text: str, file: str) -> GpuClient | None:
    """Return the client in the text of an fdinfo file, None if it is of no GPU or of NVIDIA's.

    Raises CounterError for a count that is not a number of nanoseconds. `file` identifies clients whose
    driver gives them no id.
    """
    keys = _keys(text)
    driver = keys.get("drm-driver")
    if driver is None or driver.startswith("nvidia"):
        return None
    place = keys.get("drm-pdev", "")
    client = keys.get("drm-client-id", f"file {file}")
    counts, capacity = {}, {}
    for key, value in keys.items():
        if key.startswith(_CAPACITY):
            if value.isdecimal() and int(value[:9]) > 0:
                capacity[key.removeprefix(_CAPACITY)] = int(value[:9])
        elif key.startswith(_ENGINE):
            matched = _NANOSECONDS.fullmatch(value)
            if matched is None or int(matched[1]) >= 1 << 63:
                raise CounterError(f"{key:.40} is {value:.40}")
            counts[key.removeprefix(_ENGINE)] = int(matched[1])
    gpu = f"GPU {place} ({driver})" if place else f"GPU ({driver})"
    return GpuClient(gpu, f"{driver} {place} {client}", counts, capacity, driver)


def _keys(text: str) -> Mapping[str, str]:
    pairs = (line.partition(":") for line in text.splitlines() if line.startswith("drm-"))
    return {key: " ".join(value.split()) for key, _, value in pairs}
