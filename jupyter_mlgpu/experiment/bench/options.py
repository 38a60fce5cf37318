"""The options of `jupyter mlgpu bench` and `%mlc_bench`, which are the same."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from jupyter_mlgpu.experiment.bench.session import Order, check
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record.device_request import AUTO, DeviceWord
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.option_parser import json_path, magic_parser
from jupyter_mlgpu.record.sentence import say

#: In less time there may be too few samples to show a fall (`burning.py`). A day is enough to show any.
FEWEST_MINUTES, MOST_MINUTES = 0.2, 1440.0


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """The options of a benchmark.

    `against` is a name or a file to compare with, or two files that are only compared.
    """

    order: Order
    out: Path | None = None
    pyperf: Path | None = None
    against: tuple[str, ...] = ()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser of argparse."""
    every_day = parser.add_argument_group("every day")
    every_day.add_argument(
        "cases",
        nargs="*",
        metavar="CASES",
        help="gemm, bandwidth, transfer, conv, dispatch (default: these five), burn and more",
    )
    more = parser.add_argument_group("more")
    more.add_argument(
        "--framework",
        metavar="F",
        help=f"one of {', '.join(registry.FRAMEWORKS)}, or several separated by commas (default: "
        f"{registry.title(registry.BENCHMARKED_FIRST)} or whichever is installed)",
    )
    more.add_argument("--device", metavar="D", help="cpu, gpu, gpu:1 (default: the first GPU, else the CPU)")
    every_day.add_argument(
        "--quick",
        action="store_true",
        help="fewer sizes and shorter runs: at most a minute, about a minute for each model",
    )
    more.add_argument(
        "--minutes", metavar="N", help="how long the case burn runs (default: 3, with --quick 0.5)"
    )
    more.add_argument("--out", metavar="FILE", help="save the results as JSON")
    more.add_argument(
        "--pyperf",
        metavar="FILE",
        help="save the repeats of each case as JSON for `python -m pyperf compare_to`",
    )
    more.add_argument(
        "--against",
        nargs="+",
        default=[],
        metavar="NAME|FILE",
        help="compare with published results "
        "(m1-max, rtx-3090, h200) or with a file from --out; with two files, only compare them",
    )


def options(found: argparse.Namespace) -> BenchOptions:
    """Return the options. Raises UsageError, before anything is imported."""
    names = tuple(one for one in (found.framework or "").lower().split(",") if one)
    device = AUTO if found.device is None else DeviceWord.parse(found.device)
    minutes = None if found.minutes is None else _minutes(found.minutes)
    order = Order(tuple(found.cases), names, device, found.quick, minutes)
    check(order)
    if len(found.against) > 2:
        raise UsageError(
            say(
                "--against takes one name or file, or two files; found {count}: name the "
                "cases first, as in `gemm --against m1-max`.",
                count=len(found.against),
            )
        )
    out = None if found.out is None else json_path(found.out, "--out", "bench.json")
    pyperf = None if found.pyperf is None else json_path(found.pyperf, "--pyperf", "bench.json")
    return BenchOptions(order, out, pyperf, tuple(found.against))


def _minutes(word: str) -> float:
    try:
        minutes = float(word)
    except ValueError:
        minutes = 0.0
    if not FEWEST_MINUTES <= minutes <= MOST_MINUTES:
        raise UsageError(
            say(
                "--minutes takes a number from {fewest} to {most}, not {found}.",
                fewest=f"{FEWEST_MINUTES:g}",
                most=f"{MOST_MINUTES:g}",
                found=repr(word),
            )
        )
    return minutes


def parse(line: str) -> BenchOptions:
    """Return the options of a line in a notebook. Raises UsageError."""
    parser = magic_parser("%mlc_bench", say("`%mlc_bench?` explains."))
    add_arguments(parser)
    return options(parser.parse_line(line))
