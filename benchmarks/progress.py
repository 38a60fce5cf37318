"""Show a person how far a benchmark is."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console
from rich.progress import Progress

from benchmarks.pairing import Pair, interleave


def with_progress(count: int, title: str, measure: Callable[[bool], float]) -> list[Pair]:
    """As `interleave`, with a progress bar on stderr, or one line where that is no terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        console.print(f"{title}: {count} pairs", highlight=False)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(title, total=2 * count)

        def measure_and_show(on: bool) -> float:
            seconds = measure(on)
            progress.advance(task)
            return seconds

        return interleave(count, measure_and_show)
