"""The files between a notebook and a fresh process: the job, and the news that the process reports.

The process appends a line of JSON for each report, so what it measured before a crash is kept.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from msgspec import Struct

from jupyter_mlgpu.experiment.race.result import Lane, Size, Timing
from jupyter_mlgpu.experiment.race.runner import RaceProgress
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.base import Device
from jupyter_mlgpu.record import decoding

JOB = "job.json"
MESSAGES = "news.jsonl"


class JobError(Struct, frozen=True):
    """An error that ended the process. `traceback` is that of the user's code, None for an error of ours."""

    type: str
    text: str
    traceback: str | None


class News(Struct, frozen=True, omit_defaults=True):
    """One report of a process: the next run, a timing, the end of its lane, devices, or an error."""

    run: RaceProgress | None = None
    timing: Timing | None = None
    lane: Lane | None = None
    versions: Mapping[str, str] | None = None
    devices: tuple[Device, ...] | None = None
    error: JobError | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """One lane in a process of its own: Python code, and the device's word there, such as `gpu:0`.

    Without a device the process only reports which devices there are.
    """

    framework: str
    device: str | None
    body: str = ""
    setup: str | None = None
    variable: str | None = None
    sizes: tuple[Size, ...] = (None,)
    repeats: int = 1

    def write(self, folder: Path) -> None:
        """Write the job into a folder."""
        data = {"job": decoding.to_json(self), "registered": registry.FRAMEWORKS.get(self.framework)}
        (folder / JOB).write_text(json.dumps(data), encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> Job:
        """Read the job that `write` wrote, and register its framework in this process, too."""
        data = json.loads((folder / JOB).read_text(encoding="utf-8"))
        job = decoding.decode(cls, data["job"], "the job")
        if data["registered"] is not None:
            registry.register(job.framework, *data["registered"])
        return job


class NewsWriter:
    """Appends the reports of the process."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / MESSAGES

    def write(self, news: News) -> None:
        """Append a report in one write."""
        line = decoding.to_bytes(news) + b"\n"
        handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, line)
        finally:
            os.close(handle)


class NewsReader:
    """Reads the reports since the last call; an incomplete line waits."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / MESSAGES
        self._read = 0

    def news(self) -> Iterator[News]:
        """Yield the reports since the last call."""
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            file.seek(self._read)
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        self._read += len(whole)
        for line in whole.splitlines():
            yield decoding.decode(News, json.loads(line), "a report of the process")
