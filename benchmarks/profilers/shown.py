"""The figures for a terminal, for a JSON file, and as a page for docs/measurements/."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from benchmarks import report
from benchmarks.cell_cost import TARGET_FIXED, TARGET_SHARE
from benchmarks.pairing import times as pairs_as_data
from benchmarks.profilers.conditions import BARE
from benchmarks.profilers.measure import LENGTH, SEED, Times
from benchmarks.profilers.results import TARGET_OPS, Row, rows, verdicts
from jupyter_mlgpu.explain.statistics import Estimate

HEADER = (
    "cell",
    "condition",
    "beside",
    "pairs",
    "median",
    "added",
    "interval",
    "ratio",
    "interval",
    "CPU added",
    "interval",
    "verdict",
)

TARGETS = (
    f"Targets: light tracing adds at most {report.ms(TARGET_FIXED)} and {TARGET_SHARE * 100:g} % of the bare "
    f"cell; a training cell with --ops takes at most {TARGET_OPS:g} times as long as with the framework's "
    "profiler, started and stopped in the cell with the same options, and not read. Of the times with --ops, "
    "parsing (reading the profile and making its table) is left out, and stated apart."
)

METHOD = f"""\
* A time runs from the moment the client sends the cell to the moment it has the reply.
* A row compares two conditions of one kernel, in pairs of the same round. Each round gives every condition
  one turn, in an order drawn anew (seed {SEED}).
* Each framework has fresh kernels, five at a time: for light tracing, for profilers, and one for each other
  tool, which takes part in every third round (scalene in every tenth). Bare means that the extension or
  tool is loaded and off. Computing is left to one thread.
* Training cells are calibrated to {LENGTH * 1e3:.0f} ms bare; first runs are not measured.
* "CPU added" is processor time of the kernel's process, up to 0.1 s after the reply: beside the clock's
  figure it shows what of that is waiting, and other programs move it less.
* Without a GPU, all of this is about the CPU: waiting for a GPU, and CUPTI, which the profilers use there,
  are not in it."""


def as_text(measured: Sequence[Times]) -> str:
    """The figures for a terminal."""
    parts = []
    for times in measured:
        parts += [_title(times), report.table([HEADER[1:], *(_cells(row)[1:] for row in rows(times))])]
        parts += [*_remarks(times), ""]
    return "\n".join([*parts, TARGETS, report.legend(verdicts(measured))])


def as_markdown(measured: Sequence[Times], about: Mapping[str, str]) -> str:
    """The figures as a page."""
    lines = [
        "# What tracing costs, beside other tools",
        "",
        "Written by `make benchmark-profilers`. A figure belongs to this machine alone.",
        "",
        *_markdown([("", ""), *about.items()]),
        "",
        METHOD,
        "",
        TARGETS,
        "",
        report.legend(verdicts(measured)),
    ]
    for framework in dict.fromkeys(times.framework for times in measured):
        of_it = [times for times in measured if times.framework == framework]
        lines += ["", f"## {framework}", ""]
        lines += _markdown([HEADER, *(_cells(row) for times in of_it for row in rows(times))])
        remarks = [f"* {times.workload.name}: {one}" for times in of_it for one in _remarks(times)]
        lines += ["", *remarks] if remarks else []
    return "\n".join(lines) + "\n"


def as_data(measured: Sequence[Times], about: Mapping[str, str]) -> dict[str, Any]:
    """The figures for a JSON file; times in seconds."""
    return {
        "benchmark": "profilers",
        "machine": dict(about),
        "target_light": {"fixed_s": TARGET_FIXED, "share": TARGET_SHARE},
        "target_ops_ratio": TARGET_OPS,
        "cells": [
            {
                "framework": times.framework,
                "name": times.workload.name,
                "code": times.workload.cell(times.steps),
                "steps": times.steps,
                "bare_s": {side: median(all_) for (side, one), all_ in times.seconds.items() if one == BARE},
                "parsing_s": times.parsing,
                "not_measured": times.why_not,
                "conditions": [_row_as_data(row) for row in rows(times)],
            }
            for times in measured
        ],
    }


def _row_as_data(row: Row) -> dict[str, Any]:
    return {
        "condition": row.condition,
        "beside": row.beside,
        "median_s": row.seconds,
        "added_s": row.added,
        "added_interval_s": _interval_as_data(row.added_interval),
        "ratio": row.ratio,
        "ratio_interval": _interval_as_data(row.ratio_interval),
        "target": row.target,
        "processor_added_s": row.processor_added,
        "processor_added_interval_s": _interval_as_data(row.processor_interval),
        "verdict": row.verdict,
        "pairs": pairs_as_data(row.pairs),
    }


def _interval_as_data(interval: Estimate | None) -> list[float] | None:
    return None if interval is None else [interval.low, interval.high]


def _title(times: Times) -> str:
    steps = f", {times.steps:,} steps" if times.workload.adjustable else ""
    return f"{times.framework}: {times.workload.name}{steps}"


def _cells(row: Row) -> tuple[str, ...]:
    ratio = row.ratio_interval
    return (
        row.cell,
        row.condition,
        row.beside,
        str(len(row.pairs)),
        report.ms(row.seconds),
        report.ms(row.added),
        _span(row.added_interval),
        f"{row.ratio:.3f}",
        "none" if ratio is None else f"{ratio.low:.3f} to {ratio.high:.3f}",
        report.ms(row.processor_added),
        _span(row.processor_interval),
        row.verdict or "",
    )


def _span(interval: Estimate | None) -> str:
    return "none" if interval is None else report.interval(interval)


def _remarks(times: Times) -> list[str]:
    bare = [f"{side} {report.ms(median(all_))}" for (side, one), all_ in times.seconds.items() if one == BARE]
    said = [f"bare, in the median, by kernel: {', '.join(bare)}"]
    if times.parsing:
        said.append(
            f"parsing of --ops, which is left out above: {report.ms(median(times.parsing))} in the median"
        )
    return [*said, *(f"{name} was not measured: {why}" for name, why in times.why_not.items())]


def _markdown(table: Sequence[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(row) + " |" for row in table]
    return [lines[0], "|" + " --- |" * len(table[0]), *lines[1:]]
