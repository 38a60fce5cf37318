"""Code that saves the roofs of a machine that is not idle, as machines that run tests are not."""

from __future__ import annotations


def undisturbed_roofs(framework: str) -> str:
    """A cell that runs a quick benchmark and saves its roofs as if nothing had disturbed it."""
    return (
        "from dataclasses import replace\n"
        "from jupyter_mlgpu.experiment.bench import roofs\n"
        "from jupyter_mlgpu.measure import runtime\n"
        f"result = %mlc_bench gemm bandwidth --quick --framework {framework}\n"
        "quiet = tuple(replace(one, flags=()) for one in result.results)\n"
        "roofs.keep(replace(result, results=quiet), runtime.current().recorder.run.host_digest)"
    )
