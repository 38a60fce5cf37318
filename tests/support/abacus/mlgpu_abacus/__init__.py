"""Abacus for jupyter_mlgpu: what a folder of `measure/frameworks` is, outside of the package."""

from jupyter_mlgpu.measure.frameworks.base import Framework, Verified

FRAMEWORK = Framework(
    name="abacus",
    title="Abacus",
    backend="mlgpu_abacus.backend:AbacusBackend",
    sample="mlgpu_abacus.doctor:sample",
    array_programs="mlgpu_abacus.array_programs:AbacusPrograms",
    why_no_profiler="Abacus has no profiler: count the beads.",
    packages=("abacus", "abacus-*"),
    race_note="Abacus works a sum out at once.",
    race_note_gpu="The GPU of Abacus is a pretence.",
    verified={"cpu": Verified("a desk")},
)
