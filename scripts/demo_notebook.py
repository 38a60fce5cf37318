"""Assembles the demo's first notebook: recorded cells and results in the places that demo/demo.ipynb names.

A code cell there holds no code. Its metadata `demo` names what it shows: a cell of a recording
(`{"recorded": "17_starved", "number": 2}`), the file of a race (`{"race": PATH}`), or a cell of a lesson as
it was saved, without its receipt (`{"lesson": "05_eager_and_graph", "cell": ID}`). So no record is kept twice
in the repository.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from constraints import ROOT
from jupyter_mlgpu.experiment.race.result import RaceResult
from jupyter_mlgpu.measure.frameworks.replay import Replay
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.show.page import rendering
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE, bundle
from jupyter_mlgpu.teach.lessons import recordings
from jupyter_mlgpu.teach.lessons.assembly import assembled

FOLDER = ROOT / "demo"
SOURCE = FOLDER / "demo.ipynb"


def notebook(language: str) -> bytes:
    """Return the notebook in a language, `en` or one with a catalogue in demo/, as the bytes of its file."""
    english = _filled(json.loads(SOURCE.read_bytes()))
    if language == "en":
        return english
    return assembled(english, FOLDER / language / "demo.po", language)


def _filled(source: dict[str, Any]) -> bytes:
    for cell in source["cells"]:
        if cell["cell_type"] == "code":
            cell |= _shown(**cell["metadata"].pop("demo"))
    return f"{json.dumps(source, ensure_ascii=False, indent=1)}\n".encode()


def _shown(**named: Any) -> dict[str, Any]:
    """Return the code and outputs of the cell that the metadata names."""
    if "recorded" in named:
        return _recorded(named["recorded"], named["number"])
    if "race" in named:
        return _race(ROOT / named["race"])
    lesson = json.loads((ROOT / "notebooks" / f"{named['lesson']}.ipynb").read_bytes())
    cell = next(one for one in lesson["cells"] if one["id"] == named["cell"])
    # The receipt says how long that took somewhere, which is not what the demo is about.
    results = [one for one in cell["outputs"] if MIME_TYPE not in one.get("data", {})]
    return {"source": cell["source"], "outputs": results, "execution_count": None}


def _recorded(name: str, number: int) -> dict[str, Any]:
    recording = recordings.read(recordings.FOLDER / f"{name}.json")
    cell = next(one for one in recording.data["cells"] if one["number"] == number)
    outputs = []
    if cell["record"] is not None:  # else the cell prepares the others, and was not measured
        source = f"{recording.machine}, {recording.framework}, {recording.date}"
        (record,) = Replay([Record.from_json(cell["record"])], source).records
        outputs.append(_output(bundle(record)))
    return {"source": cell["code"], "outputs": outputs, "execution_count": number}


def _race(path: Path) -> dict[str, Any]:
    race = RaceResult.from_json(json.loads(path.read_bytes()))
    hardware = ", ".join(lane.hardware or lane.device for lane in race.lanes)
    note = say("Replayed from {source}: nothing ran here.", source=f"{hardware}, {race.started_at[:10]}")
    race = replace(race, notes=(*race.notes, note))
    data = {
        **rendering.bundle_of(race),
        "text/html": rendering.as_html(race, charted=True),
        "text/plain": rendering.as_text(race),
    }
    return {"source": race.cell, "outputs": [_output(data)], "execution_count": None}


def _output(data: dict[str, Any]) -> dict[str, Any]:
    return {"output_type": "display_data", "data": data, "metadata": {}}
