"""Whole healthy machines as facts, and the same machines with something changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tracked import tracked

from jupyter_mlgpu.explain.doctor import reading
from jupyter_mlgpu.explain.doctor.facts import Facts

MACHINES = Path(__file__).parent / "machines"
DELETE = "<delete>"


@pytest.fixture
def machine() -> Callable[..., Facts]:
    """`machine("mac", {"packages/tensorflow/version": "2.20.0"})`: one of `machines/`, with fields changed.

    A key is the way to a field from the top, by names and numbers with `/` between, and everything on the way
    must be there; a last name that is not is added. None as in JSON is "there is none", `{"unknown": "why"}`
    an unknown fact, `"<delete>"` takes the entry out.
    """
    return changed


@pytest.fixture(params=[path.stem for path in tracked(MACHINES, "*.json")])
def healthy(request: pytest.FixtureRequest) -> Facts:
    """Each of the healthy machines in turn."""
    return changed(request.param)


def changed(name: str, changes: Mapping[str, Any] | None = None) -> Facts:
    data = json.loads((MACHINES / f"{name}.json").read_text(encoding="utf-8"))
    for way, value in (changes or {}).items():
        *parents, last = way.split("/")
        place: Any = data
        for step in parents:
            place = place[int(step)] if isinstance(place, list) else place[step]
        key: Any = int(last) if isinstance(place, list) else last
        if value == DELETE:
            del place[key]
        else:
            place[key] = value
    return reading.from_json(data)
