"""Figures of another machine, kept in the package: what a learner without a GPU sees beside the own ones.

A recording is made by running a lesson there with JUPYTER_MLGPU_RECORD_LESSONS naming a folder: each `chart`
and each table of `figures` then writes FOLDER/NAME.json. What is to be shown goes into the folder
`recordings` beside this module.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jupyter_mlgpu.record import decoding, incoming
from jupyter_mlgpu.record.errors import RecordError, UsageError
from jupyter_mlgpu.record.files import write_atomically
from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.record.visible import visible_line
from jupyter_mlgpu.teach.lessons.machine import here

FOLDER = Path(__file__).parent / "recordings"
VARIABLE = "JUPYTER_MLGPU_RECORD_LESSONS"

#: Raised whenever a field changes its meaning or goes away.
SCHEMA = 1
_MOST_BYTES = 1_000_000


@dataclass(frozen=True)
class Recording:
    """What another machine measured: its hardware, its framework, the day, and what was shown there."""

    machine: str
    framework: str
    date: str
    data: Mapping[str, Any]

    def __post_init__(self) -> None:
        if not f"{self.machine}{self.framework}{self.date}".isprintable():
            raise RecordError(
                "machine, framework and date should be one line each, without control characters"
            )

    @property
    def label(self) -> str:
        """What stands beside a line of it: that nothing of it was measured here."""
        return translate(say("replayed: {machine}", machine=self.machine))

    def __str__(self) -> str:
        told = say(
            "Replayed, not measured here: {machine}, with {framework}, on {date}.",
            machine=self.machine,
            framework=self.framework,
            date=self.date,
        )
        return translate(told)


def beside(name: str) -> Recording | None:
    """The recording of that name, where there is one and this machine has no GPU of its own."""
    path = _path(FOLDER, name)
    if not path.exists():
        return None
    machine = here()
    return None if machine is not None and machine.has_gpu else read(path)


def read(path: Path) -> Recording:
    """A recording from its file; raises UsageError for what is none, or where a later version wrote it."""
    try:
        data = incoming.read_json(path, most=_MOST_BYTES, what="a recording")
        decoding.check_schema(data, SCHEMA, "it")
        return decoding.decode(Recording, data, "it")
    except RecordError as error:
        raise UsageError(
            f"{visible_line(path.name)} is not a recording of a lesson: {error}; record it again."
        ) from error


def record(name: str, data: Mapping[str, Any]) -> None:
    """Write a recording of `data` where JUPYTER_MLGPU_RECORD_LESSONS names a folder."""
    folder = os.environ.get(VARIABLE)
    machine = here()
    if not folder or machine is None:
        return
    kept = {
        "schema": SCHEMA,
        "name": name,
        "machine": machine.hardware or machine.device,
        "framework": machine.framework,
        "date": datetime.now(UTC).date().isoformat(),
        "data": data,
    }
    text = json.dumps(kept, ensure_ascii=False, indent=1) + "\n"
    write_atomically(_path(Path(folder), name), text.encode())


def _path(folder: Path, name: str) -> Path:
    if not re.fullmatch(r"\w+", name, re.ASCII):
        raise UsageError(f"{name!r} is not a chart name: write letters, digits and _, as in '02_race'.")
    return folder / f"{name}.json"
