"""Measurements of another machine, shipped with the package for learners without a GPU.

A recording is made by running a lesson on that machine while JUPYTER_MLGPU_RECORD_LESSONS names a folder.
Each `chart` and each table of `figures` then writes FOLDER/NAME.json. The files to be shown belong in the
folder `recordings` beside this module.
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

#: Increased whenever a field changes its meaning or is removed.
SCHEMA = 1
_MOST_BYTES = 1_000_000


@dataclass(frozen=True)
class Recording:
    """Measurements of another machine: its hardware, its framework, the date, and the data shown there."""

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
        """The label of a replayed line: it says that it was not measured here."""
        return translate(say("replayed: {machine}", machine=self.machine))

    def __str__(self) -> str:
        sentence = say(
            "Replayed, not measured here: {machine}, with {framework}, on {date}.",
            machine=self.machine,
            framework=self.framework,
            date=self.date,
        )
        return translate(sentence)


def find(name: str, *, on_gpus: bool = False) -> Recording | None:
    """Return the recording of that name, or None if there is none.

    It is None on a machine with a GPU, too, unless `on_gpus`: there the learner measures.
    """
    path = _path(FOLDER, name)
    if not path.exists():
        return None
    if on_gpus:
        return read(path)
    machine = here()
    return None if machine is not None and machine.has_gpu else read(path)


def read(path: Path) -> Recording:
    """Read a recording from a file; raises UsageError if it is invalid or written by a later version."""
    try:
        data = incoming.read_json(path, most=_MOST_BYTES, what="a recording")
        decoding.check_schema(data, SCHEMA, "it")
        return decoding.decode(Recording, data, "it")
    except RecordError as error:
        raise UsageError(
            f"{visible_line(path.name)} is not a recording of a lesson: {error}; record it again."
        ) from error


def record(name: str, data: Mapping[str, Any], *, framework: str = "") -> None:
    """Write a recording of `data` to the folder that JUPYTER_MLGPU_RECORD_LESSONS names, if it is set.

    `framework` is what measured, by default the framework in use.
    """
    folder = os.environ.get(VARIABLE)
    machine = here()
    if not folder or machine is None:
        return
    kept = {
        "schema": SCHEMA,
        "name": name,
        "machine": machine.hardware or machine.device,
        "framework": framework or machine.framework,
        "date": datetime.now(UTC).date().isoformat(),
        "data": data,
    }
    text = json.dumps(kept, ensure_ascii=False, indent=1) + "\n"
    write_atomically(_path(Path(folder), name), text.encode())


def _path(folder: Path, name: str) -> Path:
    if not re.fullmatch(r"\w+", name, re.ASCII):
        raise UsageError(f"{name!r} is not a chart name: write letters, digits and _, as in '03_race'.")
    return folder / f"{name}.json"
