"""The stages from a measured cell to its receipt, and the connections between the package's parts.

    measured   measure/recorder.py makes a frozen Record of the cell, started and stopped by IPython's events
               (jupyter/notebook/cell/events.py)
    enriched   each of `stages` adds to the record: log messages, what limited the cell, what to do about it
    stored     in record/store.py, which passes it to the sidebar
    shown      by show/receipts, under the cell

A part imports only earlier parts (docs/design.md). If it needs a function of a later one, its `__init__.py`
declares the function, and `connect` sets it. Imports here are inside the functions that use them, so that
rendering and explanations are loaded only when they are needed.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jupyter_mlgpu.jupyter import Sharing
    from jupyter_mlgpu.jupyter.notebook.cell.cell_places import CellPlaces
    from jupyter_mlgpu.jupyter.notebook.cell.record_stages import EndedCell, NotebookSession, RecordStage
    from jupyter_mlgpu.measure.activity.activity import Activity
    from jupyter_mlgpu.measure.runtime import Runtime
    from jupyter_mlgpu.record import Renderer
    from jupyter_mlgpu.record.gpu_work import GpuFigures
    from jupyter_mlgpu.record.record import Record

#: The alias that lessons import. It is loaded only in their kernels.
_LESSONS = "jupyter_mlgpu.lessons"


# From the measured cell to its receipt.


def cell_ended(record: Record, cell: EndedCell, session: NotebookSession) -> None:
    """Enrich the record of a cell that has ended, store it, and show its receipt."""
    from jupyter_mlgpu.jupyter.notebook.cell.cell_places import CellPlaces
    from jupyter_mlgpu.jupyter.notebook.cell.record_stages import complete
    from jupyter_mlgpu.measure.frameworks.registry import created_backends

    places = CellPlaces(cell, created_backends, session.namespace)
    enriched = complete(record, stages(cell, session, places))
    try:
        session.store(enriched)
    finally:
        session.show(enriched, cell)
    if enriched.unfinished:
        sequence = enriched.cell.sequence
        cell.when_gpu_done(
            lambda figures: session.revise(
                sequence, lambda one: with_gpu(one, figures, cell, session.runtime, places)
            )
        )


def stages(cell: EndedCell, session: NotebookSession, places: CellPlaces) -> tuple[RecordStage, ...]:
    """Return the stages that enrich a cell's record, in their order."""
    from jupyter_mlgpu.jupyter.notebook.cell import record_stages as parts
    from jupyter_mlgpu.measure.frameworks import registry

    stage = parts.RecordStage
    runtime, capture, namespace = session.runtime, session.capture, session.namespace
    return (
        stage(parts.TRACEBACK, lambda one: parts.with_traceback(one, cell.left_out_s)),
        stage(parts.PLACES, places.add),
        stage(
            parts.ELSEWHERE, lambda one: parts.with_values_elsewhere(one, cell, runtime.selection, namespace)
        ),
        stage(
            parts.LAZY_WORK,
            lambda one: parts.with_lazy_work(one, cell, registry.created_backends(), namespace),
        ),
        stage(parts.NATIVE_LINES, lambda one: parts.with_logs(one, cell, capture)),
        stage(parts.MPS_LOG, lambda one: parts.with_mps_log(one, capture)),
        stage(parts.ITEMS, lambda one: parts.with_items(one, cell.items)),
        stage(parts.LIMIT, lambda one: explained(one, cell.activity, runtime)),
        stage(parts.SLOWER, lambda one: parts.with_slower(one, runtime.store)),
        stage(parts.GROWTH, lambda one: parts.with_growth(one, runtime.store)),
        stage(parts.HOLDS, lambda one: _with_what_it_holds(one, cell, session)),
        stage(parts.DEATH, lambda one: parts.with_exit(one, session.died_before)),
        parts.saving_stage(session.journal),
    )


def explained(record: Record, activity: Activity | None, runtime: Runtime) -> Record:
    """Return the record of a cell, block or epoch with what limited it, and what to do about it."""
    from jupyter_mlgpu.explain.limits.stage import with_limit

    return with_limit(record, activity, runtime)


def with_gpu(
    record: Record, figures: GpuFigures, cell: EndedCell, runtime: Runtime, places: CellPlaces
) -> Record:
    """Return the record with its GPUs' figures, and with its place and limit determined again from them."""
    from jupyter_mlgpu.explain.limits.stage import with_limit_again
    from jupyter_mlgpu.jupyter.notebook.cell.record_stages import LIMIT, PLACES, RecordStage

    place = RecordStage(PLACES, places.add)
    limit = RecordStage(LIMIT, lambda one: with_limit_again(one, cell.activity, runtime))
    return limit(place(record.with_gpu(figures)))


def _with_what_it_holds(record: Record, cell: EndedCell, session: NotebookSession) -> Record:
    if not in_a_lesson():
        return record
    from jupyter_mlgpu.teach.cell_holds import with_what_it_holds

    return with_what_it_holds(record, cell.code, session.namespace)


# Functions that parts need from later ones.


def connect() -> None:
    """Set the functions that each part needs from later ones.

    These are imported only when they are called.
    """
    from jupyter_mlgpu import jupyter, measure, record

    record.renderer = _renderer
    measure.explain = explained
    jupyter.cell_ended, jupyter.in_a_lesson = cell_ended, in_a_lesson
    jupyter.share_command = _share_command
    jupyter.teaching_commands = {"class": _class_command, "lessons": _lessons_command}
    jupyter.teaching_handlers = _teaching_handlers


def in_a_lesson() -> bool:
    """Return True if this kernel's notebook has imported the lessons' package."""
    return _LESSONS in sys.modules


def _renderer() -> Renderer:
    from jupyter_mlgpu.show import renderer

    return renderer


def _share_command(runtime: Runtime, shell: Any) -> Sharing:
    from jupyter_mlgpu.teach.commands.share import ShareCommand

    return ShareCommand(runtime, shell)


def _class_command() -> ModuleType:
    from jupyter_mlgpu.teach.commands import classroom

    return classroom


def _lessons_command() -> ModuleType:
    from jupyter_mlgpu.teach.commands import lessons

    return lessons


def _teaching_handlers(base_url: str) -> list[tuple[str, Any]]:
    from jupyter_mlgpu.teach.commands import card

    return card.handlers(base_url)
