"""Run a notebook with tracing on; write the executed notebook, records.jsonl and report.html.

The notebook's code runs unchanged, in its own kernel and in the notebook's folder. Exit status: 0 if every
cell ran, 1 if a cell failed, 2 if the notebook could not be run or its results could not be written, 130
after Ctrl-C. In every case, everything measured so far is written.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_mlgpu.jupyter.cli.terminal import complain, tell
from jupyter_mlgpu.record.errors import MlgpuError, RecordError, UsageError
from jupyter_mlgpu.record.extras import require
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.record.visible import visible_line

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from jupyter_mlgpu.jupyter.cli.executing import RunEnd
    from jupyter_mlgpu.record.record import Record

EXAMPLE = """\
examples:
  jupyter mlgpu run lesson.ipynb --device cpu --out results
  jupyter mlgpu run lesson.ipynb --device gpu --out results --timeout 600
"""
RECORDS = "records.jsonl"
REPORT = "report.html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `jupyter mlgpu run`."""
    every_day = parser.add_argument_group("every day")
    every_day.add_argument(
        "notebook", type=Path, metavar="NOTEBOOK", help="the notebook to run; it is not changed"
    )
    every_day.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="where to write the results"
    )
    every_day.add_argument(
        "--device",
        metavar="DEVICE",
        help="the device for all cells: cpu, gpu, a numbered device such as cpu:1, or auto (default): each "
        "framework chooses its own device",
    )
    more = parser.add_argument_group("more")
    more.add_argument(
        "--timeout", type=float, metavar="SECONDS", help="the longest a cell may take (default: no limit)"
    )
    more.add_argument("--kernel", metavar="NAME", help="the kernel to use (default: the notebook's own)")


def main(arguments: argparse.Namespace) -> int:
    """Run the notebook and return the exit status."""
    import asyncio

    # Includes the packages needed at the end, so a missing one is not found after an hour of cells.
    require("`jupyter mlgpu run`", "report", "nbclient", "nbformat")
    from jupyter_mlgpu.jupyter.cli.executing import Execution
    from jupyter_mlgpu.jupyter.cli.kernel import Kernel
    from jupyter_mlgpu.jupyter.cli.progress import progress
    from jupyter_mlgpu.record.device_request import DeviceWord

    device = None if arguments.device is None else DeviceWord.parse(arguments.device)
    path, out = arguments.notebook.absolute(), arguments.out.absolute()
    _check(arguments, path, out)
    notebook = _read(path)
    kernel = Kernel(arguments.kernel or _own_kernel(notebook) or "python3")
    kernel.check()
    show = progress()
    began = time.monotonic()
    try:
        execution = Execution(
            notebook,
            path,
            records=out / RECORDS,
            device=device,
            timeout=arguments.timeout,
            kernel=kernel,
            progress=show,
        )
        ending = asyncio.run(execution.run(lambda: _clear(out, path.name)))
    finally:
        show.close()
    return _finish(notebook, ending, path.name, arguments.out, time.monotonic() - began)


def _check(arguments: argparse.Namespace, path: Path, out: Path) -> None:
    if arguments.timeout is not None and not arguments.timeout > 0:
        raise UsageError(f"--timeout must be more than 0 seconds, found {arguments.timeout:g}.")
    if path.parent.resolve() == out.resolve():
        raise UsageError(
            f"{visible_line(arguments.out)} is the notebook's own folder, where the executed copy would "
            "replace it; choose another folder with --out."
        )
    records = out / RECORDS
    if records.exists() and not records.is_file():
        raise UsageError(
            f"{visible_line(arguments.out / RECORDS)} is not a regular file, and the report is made from "
            "its contents; choose another folder with --out."
        )


def _read(path: Path) -> NotebookNode:
    """Return the notebook without the outputs of earlier runs."""
    import json
    import warnings

    from nbformat import reads

    from jupyter_mlgpu.record.incoming import MOST_OF_ONES_OWN, read_notebook

    data = read_notebook(path, most=MOST_OF_ONES_OWN)
    try:
        with warnings.catch_warnings():  # nbformat warns of cells without an id, which we leave as they are
            warnings.simplefilter("ignore")
            notebook: NotebookNode = reads(data.decode(), as_version=4)  # type: ignore[no-untyped-call]
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
        json.dumps(notebook, ensure_ascii=False).encode()  # half of a surrogate pair cannot be written
    except Exception as error:  # nbformat raises many types of errors
        raise UsageError(
            f"{visible_line(path)} is not a notebook that Jupyter can read; open it in JupyterLab to see why."
        ) from error
    return notebook


def _own_kernel(notebook: NotebookNode) -> str | None:
    """Return the name of the kernel in the notebook's metadata, if there is one."""
    kernelspec = notebook.metadata.get("kernelspec")
    name = kernelspec.get("name") if isinstance(kernelspec, dict) else None
    return name if isinstance(name, str) else None


def _clear(out: Path, name: str) -> None:
    """Create the folder, and remove the results of an earlier run from it."""
    from jupyter_mlgpu.record.files import save_records

    save_records(out / RECORDS, [])
    for stale in (out / name, out / REPORT):
        if stale.is_fifo() or stale.is_char_device():  # the results are written through it
            continue
        try:
            stale.unlink(missing_ok=True)
        except OSError as error:
            raise MlgpuError(
                f"{visible_line(stale)} from an earlier run cannot be removed ({error.strerror or error}); "
                "choose another folder with --out."
            ) from error


def _finish(notebook: NotebookNode, ending: RunEnd, name: str, out: Path, elapsed: float) -> int:
    """Write the results, print a summary, and return the exit status."""
    from nbformat import writes

    from jupyter_mlgpu.record import language
    from jupyter_mlgpu.record.files import keep_last_states, load_records, write_atomically
    from jupyter_mlgpu.show.receipts.report import report

    try:
        keep_last_states(out / RECORDS)
    except RecordError as error:
        complain(error)
    try:
        records, problems = load_records(out / RECORDS)
    except RecordError as error:
        complain(error)
        records, problems = [], [say("{file} was removed while the notebook was running.", file=RECORDS)]
    # These records are from this run, not loaded from another.
    records = [record.with_origin("live") for record in records]
    notices = [*([ending.for_report] if ending.for_report else []), *problems]
    results = {
        out / name: writes(notebook) + "\n",  # type: ignore[no-untyped-call]
        out / REPORT: report(
            records, title=name, notices=notices, language=language.of_notebook(notebook.metadata) or "en"
        ),
    }
    status = ending.status
    written = [out / RECORDS]
    for path, text in results.items():
        try:
            # A cell's output may contain half of a surrogate pair, which UTF-8 cannot encode.
            write_atomically(path, text.encode(errors="replace"))
            written.append(path)
        except MlgpuError as error:
            complain(error)
            status = 2
    tell(_summary(records, ending, elapsed))
    for path in written:
        tell(f"  {visible_line(path)}")
    if ending.sentence:
        complain(ending.sentence)
    return status


def _summary(records: Sequence[Record], ending: RunEnd, elapsed: float) -> str:
    from jupyter_mlgpu.record import units

    devices = sorted({entry.device for record in records for entry in record.device.ran_on or ()})
    where = f"ran on {', '.join(devices)}" if devices else "no framework operations seen"
    return f"{ending.done} of {ending.total} cells, {units.seconds(elapsed)}, {where}"
