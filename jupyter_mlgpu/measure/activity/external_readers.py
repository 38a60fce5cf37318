"""Functions with which a stack sampler reads user files, frameworks and the GPU driver."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from jupyter_mlgpu.measure.activity.stack import OfUser
from jupyter_mlgpu.measure.frameworks.base import Compiled


class ExternalReaders(NamedTuple):
    """The functions.

    Attributes:
        of_user: returns the cell of a file with user code; see `OfUser`.
        gpus: since a moment (seconds since 1970), by a GPU's label: its busy share and NVML's sample count.
        gpu_others: since a moment, the part of the GPUs' work that was for other processes.
        gpu_neighbours: how many other processes may compute on the GPUs now.
        retries: how often the frameworks' allocators have tried again so far.
        compiled: what the frameworks have compiled so far.
        called_back: returns True if native threads of a framework may call Python.
    """

    of_user: OfUser
    gpus: Callable[[float], Mapping[str, tuple[float, int]]]
    gpu_others: Callable[[float], float | None]
    gpu_neighbours: Callable[[], int | None]
    retries: Callable[[], int | None]
    compiled: Callable[[], Compiled | None]
    called_back: Callable[[], bool]
