"""What live counters cost: the kernel's share of a core while a browser watches, and while nobody does.

One kernel with the extension loaded, otherwise idle. In each pair it is watched for some seconds and left
alone for as long, in turn; the processor's time is the kernel process's own, as the system counts it (user
and system, all threads). What a browser does to draw the counters is not in it.

Exit status 1: a cost above its target beyond doubt, counters sent although nobody watched, or none although
somebody did.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks import machine, report
from benchmarks.kernel import Kernel, running_kernel
from benchmarks.pairing import Pair
from benchmarks.progress import with_progress
from benchmarks.report import quartiles
from jupyter_mlgpu.explain.statistics import Estimate, median_interval

PAIRS = 8
#: Part of one core that watching may take.
TARGET = 0.005
#: Seconds of each half of a pair; a browser says every `_RENEW` seconds that it still watches.
HALF = 10.0
_RENEW = 5.0


@dataclass(frozen=True, slots=True)
class Watching:
    """Shares of one core in pairs (on: watched, off: not), and how many events came in each half."""

    shares: list[Pair]
    events: list[tuple[int, int]]

    @property
    def interval(self) -> Estimate | None:
        """Where the median of what watching adds lies."""
        return median_interval([pair.difference for pair in self.shares])

    @property
    def verdict(self) -> report.Verdict:
        """Whether the target is kept."""
        return report.verdict(self.interval, TARGET)

    @property
    def counted(self) -> bool:
        """Whether events came when they should, and only then."""
        return all(watched > 0 and alone == 0 for watched, alone in self.events)


def measure(pairs: int) -> Watching:
    """Watch one kernel in pairs."""
    events: dict[bool, list[int]] = {True: [], False: []}
    with running_kernel() as kernel:
        kernel.run("%load_ext jupyter_mlgpu")
        kernel.run("%mlc_trace off")
        kernel.run("import time; watch = get_ipython()._jupyter_mlgpu.watch")

        def half(on: bool) -> float:
            share, number = _half(kernel, on)
            events[on].append(number)
            return share

        half(True)  # what is imported at the first look is not the cost of looking
        events[True].clear()
        shares = with_progress(pairs, "Watching", half)
    return Watching(shares, list(zip(events[True], events[False], strict=True)))


def _half(kernel: Kernel, on: bool) -> tuple[float, int]:
    """The share of a core, and the number of looks."""
    _say(kernel, on)
    processor, begun = kernel.value("(time.process_time(), time.monotonic())")
    end = time.perf_counter() + HALF
    while (left := end - time.perf_counter()) > 0:
        time.sleep(min(left, _RENEW))
        _say(kernel, on)
    after, ended, looks = kernel.value(
        "(time.process_time(), time.monotonic(),"
        " [at for at, _ in (watch.state() or {'history': []})['history']])"
    )
    return (after - processor) / (ended - begun), sum(at > begun for at in looks)


def _say(kernel: Kernel, on: bool) -> None:
    # As many cells in either half: what they take falls on both sides alike.
    kernel.run(f"watch.{'renew' if on else 'stop'}();")


def as_text(found: Watching) -> str:
    """The figures for a terminal."""
    added = quartiles([pair.difference for pair in found.shares])
    rows = [
        ("watched", _shares([pair.on for pair in found.shares])),
        ("left alone", _shares([pair.off for pair in found.shares])),
        ("added by watching", f"median {_percent(added.median)}"),
        ("interval of its median", _interval(found.interval)),
        ("target", f"at most {_percent(TARGET)} of a core"),
        ("verdict", found.verdict),
        ("looks, watched", ", ".join(str(watched) for watched, _ in found.events)),
        ("looks, left alone", ", ".join(str(alone) for _, alone in found.events)),
    ]
    return "\n".join(
        [
            f"Live counters: {len(found.shares)} interleaved pairs of {HALF:.0f} s, shares of one core",
            "",
            report.table(rows),
            "",
            report.legend([found.verdict]),
        ]
    )


def _shares(values: Sequence[float]) -> str:
    of = quartiles(values)
    return f"median {_percent(of.median)}, quartiles {_percent(of.first)} and {_percent(of.third)}"


def _interval(found: Estimate | None) -> str:
    return report.NO_INTERVAL if found is None else f"{_percent(found.low)} to {_percent(found.high)}"


def _percent(share: float) -> str:
    return f"{share * 100:.3f} %"


def as_data(found: Watching, about: Mapping[str, str]) -> dict[str, Any]:
    """The figures for a JSON file; shares of one core."""
    differences = [pair.difference for pair in found.shares]
    return {
        "benchmark": "counters",
        "machine": dict(about),
        "seconds_of_a_half": HALF,
        "added_share": report.as_data(quartiles(differences), found.interval),
        "target_share": TARGET,
        "verdict": found.verdict,
        "looks_watched_and_alone": found.events,
        "pairs": [{"off_share": pair.off, "on_share": pair.on} for pair in found.shares],
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and report; returns the exit status."""
    chosen = report.options("counters", str(__doc__), PAIRS).parse_args(arguments)
    about = machine.describe(["ipykernel", "psutil", "nvidia-ml-py"])
    print(report.table(list(about.items())), end="\n\n", flush=True)
    found = measure(chosen.pairs)
    print(as_text(found))
    if chosen.out is not None:
        report.write(chosen.out, as_data(found, about))
    return 1 if found.verdict == "missed" or not found.counted else 0


if __name__ == "__main__":
    sys.exit(main())
