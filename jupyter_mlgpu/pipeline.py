"""The stages from a measured cell to its receipt, in order; and the place where rooms are put together.

    measured   measure/recorder.py makes a frozen Record of the cell, started and stopped by IPython's events
               (jupyter/notebook/cell/events.py)
    enriched   each of `stages` adds to the record: log messages, what limited the cell, what to do about it
    stored     in record/store.py, which tells the sidebar
    shown      by show/receipts, under the cell

A room uses only the rooms before it (docs/design.md). What it needs of a later one, its `__init__.py`
declares, and `connect` sets. This imports nothing before it is used, in the function that uses it: what
draws and what explains is loaded when something is drawn or explained.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jupyter_mlgpu.jupyter import Sharing
    from jupyter_mlgpu.jupyter.notebook.cell.record_stages import EndedCell, NotebookSession, RecordStage
    from jupyter_mlgpu.measure.activity.activity import Activity
    from jupyter_mlgpu.measure.runtime import Runtime
    from jupyter_mlgpu.record import Renderer
    from jupyter_mlgpu.record.gpu_work import GpuFigures
    from jupyter_mlgpu.record.record import Record

#: What lessons import. It is loaded in their kernels alone.
_LESSONS = "jupyter_mlgpu.lessons"


# From the measured cell to its receipt.


def cell_ended(record: Record, cell: EndedCell, session: NotebookSession) -> None:
    """Enrich the record of a cell that has ended, store it, and show its receipt."""
    from jupyter_mlgpu.jupyter.notebook.cell.record_stages import complete

    enriched = complete(record, stages(cell, session))
    try:
        session.store(enriched)
    finally:
        session.show(enriched, cell)
    if enriched.unfinished:
        sequence = enriched.cell.sequence
        cell.when_gpu_done(
            lambda figures: session.revise(
                sequence, lambda one: with_gpu(one, figures, cell, session.runtime)
            )
        )


def stages(cell: EndedCell, session: NotebookSession) -> tuple[RecordStage, ...]:
    """The stages that enrich a cell's record, in their order."""
    from jupyter_mlgpu.jupyter.notebook.cell import record_stages as parts

    stage = parts.RecordStage
    runtime, capture, namespace = session.runtime, session.capture, session.namespace
    return (
        stage(parts.TRACEBACK, lambda one: parts.with_traceback(one, cell.left_out_s)),
        stage(
            parts.ELSEWHERE, lambda one: parts.with_values_elsewhere(one, cell, runtime.selection, namespace)
        ),
        # What the device wrote while it was waited for belongs to the cell, too.
        stage(parts.NATIVE_LINES, lambda one: parts.with_logs(one, capture)),
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
    """Return the record with what limited its cell, and what to do about it. Of a block or an epoch, too."""
    from jupyter_mlgpu.explain.limits.stage import with_limit

    return with_limit(record, activity, runtime)


def with_gpu(record: Record, figures: GpuFigures, cell: EndedCell, runtime: Runtime) -> Record:
    """The record once it is known what the GPUs did, and what limited the cell as far as that tells."""
    from jupyter_mlgpu.explain.limits.stage import with_limit_again
    from jupyter_mlgpu.jupyter.notebook.cell.record_stages import LIMIT, RecordStage

    limit = RecordStage(LIMIT, lambda one: with_limit_again(one, cell.activity, runtime))
    return limit(record.with_gpu(figures))


def _with_what_it_holds(record: Record, cell: EndedCell, session: NotebookSession) -> Record:
    if not in_a_lesson():
        return record
    from jupyter_mlgpu.teach.cell_holds import with_what_it_holds

    return with_what_it_holds(record, cell.code, session.namespace)


# What rooms need of those after them.


def connect() -> None:
    """Give each room what it needs of later ones; none of those is imported before it is used."""
    from jupyter_mlgpu import jupyter, measure, record

    record.renderer = _renderer
    measure.explain = explained
    jupyter.cell_ended, jupyter.in_a_lesson = cell_ended, in_a_lesson
    jupyter.share_command = _share_command
    jupyter.teaching_commands = {"class": _class_command, "lessons": _lessons_command}
    jupyter.teaching_handlers = _teaching_handlers


def in_a_lesson() -> bool:
    """Whether this kernel's notebook has imported what lessons import."""
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
