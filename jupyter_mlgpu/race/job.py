"""What a fresh process is told, and what it tells: two files in a folder of their own.

The process appends a line of JSON for each thing it has to say, so that what it measured before a crash is
kept. Each line has one key: `run` (what begins now), `timing`, `lane` (the end of it, with `versions` beside
it), `devices`, or `error` (its type, its text and its traceback; our own errors have no traceback).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_mlgpu import decoding
from jupyter_mlgpu.frameworks import registry

JOB = "job.json"
TOLD = "told.jsonl"


@dataclass(frozen=True, slots=True)
class Job:
    """One lane in a process of its own: Python code, and the device by its word there, `gpu:0` say.

    Without a device the process tells which devices there are, and runs nothing.
    """

    framework: str
    device: str | None
    body: str = ""
    setup: str | None = None
    variable: str | None = None
    sizes: tuple[float | None, ...] = (None,)
    repeats: int = 1

    def write(self, folder: Path) -> None:
        """Leave the job in a folder."""
        data = {"job": decoding.to_json(self), "registered": registry.FRAMEWORKS.get(self.framework)}
        (folder / JOB).write_text(json.dumps(data), encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> Job:
        """The job that `write` left; its framework is then known to this process, too."""
        data = json.loads((folder / JOB).read_text(encoding="utf-8"))
        job = cls(**{**data["job"], "sizes": tuple(data["job"]["sizes"])})
        if data["registered"] is not None:
            registry.register(job.framework, *data["registered"])
        return job


class Teller:
    """The process's side: appends lines."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / TOLD

    def tell(self, what: Mapping[str, Any]) -> None:
        """Say something, whole and at once."""
        line = json.dumps(what).encode() + b"\n"
        handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, line)
        finally:
            os.close(handle)


class Listener:
    """The other side: the lines since it last asked; a line that is not whole yet waits."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / TOLD
        self._read = 0

    def news(self) -> Iterator[dict[str, Any]]:
        """What was said since the last time."""
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            file.seek(self._read)
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        self._read += len(whole)
        for line in whole.splitlines():
            yield json.loads(line)
