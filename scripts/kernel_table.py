"""Make the table of the kernels that the TensorFlow at hand registers for a GPU.

    .venv/bin/python scripts/kernel_table.py [PATH]

Run it with the Linux wheel `tensorflow`, which is built with CUDA: a build for a Mac or for the CPU
alone registers no CUDA kernels, and the script refuses. No GPU is needed: registration happens when
TensorFlow is loaded. The table is package data of `jupyter_mlgpu.graphs.planning`; `compact` gives it its
form, in which rows that differ in one attribute alone become one row.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

TABLES = Path(__file__).parent.parent / "jupyter_mlgpu" / "graphs" / "planning" / "tables"

Row = dict[str, Any]


def compact(rows: Iterable[tuple[str, Row]]) -> dict[str, list[Row]]:
    """The rows by operation, those merged that differ in the values of one attribute alone.

    A row stands for every combination of its lists, so such a merge loses nothing. `registrations`
    counts what a row was made of.
    """
    table: dict[str, list[Row]] = {}
    for operation, row in rows:
        table.setdefault(operation, []).append(row)
    return {operation: _merged(table[operation]) for operation in sorted(table)}


def _merged(rows: list[Row]) -> list[Row]:
    attributes = sorted({name for row in rows for name in row["types"]})
    for attribute in attributes:
        groups: dict[str, Row] = {}
        for row in rows:
            rest = {name: values for name, values in row["types"].items() if name != attribute}
            key = json.dumps(
                [{**row, "types": rest, "registrations": 0}, attribute in row["types"]], sort_keys=True
            )
            if key not in groups:
                groups[key] = row
                continue
            kept = groups[key]
            values = sorted({*kept["types"].get(attribute, []), *row["types"].get(attribute, [])})
            groups[key] = {
                **kept,
                "types": {**rest, attribute: values} if values else rest,
                "registrations": kept["registrations"] + row["registrations"],
            }
        rows = list(groups.values())
    return rows


def registered() -> list[tuple[str, Row]]:
    """Every kernel for a GPU, or for any device, that this TensorFlow registers."""
    from tensorflow.python.framework import dtypes, kernels

    rows = []
    for kernel in kernels.get_all_registered_kernels().kernel:
        if kernel.device_type not in ("GPU", "DEFAULT"):
            continue
        types = {}
        for constraint in kernel.constraint:
            allowed = constraint.allowed_values.list
            values = [dtypes.as_dtype(one).name for one in allowed.type]
            values += [text.decode() for text in allowed.s]
            types[constraint.name] = sorted(values + [str(one) for one in [*allowed.i, *allowed.b]])
        row: Row = {"device": kernel.device_type, "types": types, "registrations": 1}
        if kernel.host_memory_arg:
            row["host"] = sorted(kernel.host_memory_arg)
        if kernel.priority:
            row["priority"] = kernel.priority
        if kernel.label:
            row["label"] = kernel.label
        rows.append((kernel.op, row))
    return rows


def write(path: Path, head: dict[str, str], rows: Iterable[tuple[str, Row]]) -> None:
    """The table as JSON, an operation a line, so that a change can be read."""
    lines = [
        f"{json.dumps(operation)}: {json.dumps(found, separators=(',', ':'))}"
        for operation, found in compact(rows).items()
    ]
    opening = json.dumps(head, indent=0).removesuffix("\n}")
    path.write_text(opening + ',\n"kernels": {\n' + ",\n".join(lines) + "\n}\n}\n")


def main() -> None:
    import tensorflow as tf

    if not tf.test.is_built_with_cuda():
        raise SystemExit("This TensorFlow was built without CUDA and registers no CUDA kernels: use Linux.")
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else TABLES / "cuda.json"
    head = {
        "name": "tensorflow",
        "version": tf.__version__,
        "origin": "what the Linux wheel tensorflow, built with CUDA, registers for GPU and for DEFAULT",
    }
    write(path, head, registered())
    print(f"{path} written.")


if __name__ == "__main__":
    main()
