"""Training throughput beside an independent script that runs torch.compile, model by model, within a time.

    python -m benchmarks.bench_against_torch --out FOLDER --seconds 600

The stages, each in a process of its own:

tie        our path and what goes beyond it, in turns with the reference (`bench_reference.py`): the ratio
jax        Keras on JAX, and what each of its options adds (its files must be at hand: PYTHONPATH)
options    eager PyTorch, one named option more at a time
inference  the same without training (only where it is asked for)
warm       compile all models side by side into the compiler's cache, measuring nothing (only where asked for)

Results are written to FOLDER/results.json and results.md after each step. A run on the same folder goes on
where the last one ended. When the time is over the process at work is ended; what it had measured is kept.
`--tiny` takes small models, to see on any machine that everything runs.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.bench_ratio import MOST_REPEATS
from benchmarks.bench_stages import BEYOND, STAGES, Book, Setting
from jupyter_mlgpu.measure.frameworks.models import MODELS

#: Batches of the published measurements.
BATCHES = {"resnet50": 128, "mobilenetv2": 128, "distilbert": 64, "bert-large": 16}
USUAL = ("tie", "jax", "options")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the stages that are asked for; 0 where every process ended by itself and well."""
    asked = _options().parse_args(arguments)
    until = asked.until or time.time() + asked.seconds
    asked.out.mkdir(parents=True, exist_ok=True)
    models, stages = asked.model or tuple(MODELS), asked.stage or USUAL
    if asked.here:
        _here(asked, models[0], stages[0], until)
        return 0
    ended = []
    for stage in stages:
        if stage == "warm":
            ended += _wait([_start(asked, one, stage, until) for one in models], until)
            continue
        for model in models:
            if time.time() < until:
                ended += _wait([_start(asked, model, stage, until)], until)
            else:
                print(f"{model}/{stage}: not begun, for the time is over", flush=True)
                ended.append(1)
    return int(any(ended))


def _here(asked: argparse.Namespace, model: str, stage: str, until: float) -> None:
    device = asked.device or _device(stage)
    setting = Setting(
        model,
        4 if asked.tiny else asked.batch or BATCHES[model],
        device,
        asked.tiny,
        asked.repeats,
        0.05 if asked.tiny else asked.block,
        until,
        tuple(asked.beyond or ("cuda_graphs",)),
    )
    book = Book(asked.out)
    if stage != "jax" and device == "cuda":
        import torch

        book.about("device", torch.cuda.get_device_name())
        book.about("CUDA of torch", str(torch.version.cuda))
    STAGES[stage](setting, book)


def _device(stage: str) -> str:
    if stage == "jax":
        import jax

        return "cuda" if jax.devices()[0].platform in ("gpu", "cuda") else "cpu"
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def _start(asked: argparse.Namespace, model: str, stage: str, until: float) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "benchmarks.bench_against_torch", "--here"]
    command += ["--out", str(asked.out), "--model", model, "--stage", stage, "--until", str(until)]
    command += ["--repeats", str(asked.repeats), "--block", str(asked.block)]
    for name in asked.beyond or ():
        command += ["--beyond", name]
    for name in ("batch", "device"):
        if getattr(asked, name):
            command += [f"--{name}", str(getattr(asked, name))]
    cache = Path(tempfile.gettempdir()) / "bench_against_torch_jax"
    environment = os.environ | {
        "KERAS_BACKEND": "jax",
        "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
        "JAX_COMPILATION_CACHE_DIR": str(cache),
    }
    return subprocess.Popen([*command, *(["--tiny"] if asked.tiny else [])], env=environment)


def _wait(processes: Sequence[subprocess.Popen[bytes]], until: float) -> list[int]:
    """How the processes ended; one that is at work when the time is over is ended."""
    ended = []
    for process in processes:
        try:
            ended.append(process.wait(max(0.0, until - time.time())))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            print(
                "The time is over: the process at work was ended, what it had measured is kept.", flush=True
            )
            ended.append(1)
    return ended


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.bench_against_torch",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--out", type=Path, required=True, metavar="FOLDER", help="where the results are, and go on")
    add("--model", action="append", choices=list(MODELS), help="one model; may be given again (default: all)")
    add("--stage", action="append", choices=list(STAGES), help="one stage; may be given again")
    add("--seconds", type=float, default=600.0, help="all must be over after this time (default 600)")
    add("--beyond", action="append", choices=list(BEYOND), help="in `tie` (default cuda_graphs)")
    add("--batch", type=int, help="another batch than the published one")
    add("--repeats", type=int, default=5, choices=range(2, MOST_REPEATS + 1), metavar="N", help="default 5")
    add("--block", type=float, default=0.8, metavar="SECONDS", help="length of one repeat (default 0.8)")
    add("--device", choices=("cpu", "cuda"), help="default: the GPU where there is one")
    add("--tiny", action="store_true", help="small models, to see that everything runs")
    add("--here", action="store_true", help=argparse.SUPPRESS)
    add("--until", type=float, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
