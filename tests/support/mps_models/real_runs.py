"""The operations that PyTorch really calls when a step runs, on a device that is here.

python -m tests.support.mps_models.real_runs mps gpt vit    # with the emulated MPS device
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from jupyter_mlgpu.graphs.mps import steps
from tests.support import mps_models


class Recording(TorchDispatchMode):
    """Counts PyTorch's operations by name and overload."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if function.namespace == "aten":
            overload = function._schema.overload_name
            name = function._schema.name.removeprefix("aten::")
            self.counts[f"{name}.{overload}" if overload else name] += 1
        return function(*args, **(kwargs or {}))


def operations(name: str, device: str, *, train: bool) -> Counter[str]:
    """Return the operations of a model's step, or of its forward pass, on a device of this PyTorch."""
    torch.manual_seed(0)
    with torch.device(device):
        subject, *given = mps_models.make(name)
        if not isinstance(subject, torch.nn.Module):
            step, grads = subject, True
        elif train:
            step, grads = steps.training_step(subject, []), True
        else:
            step, grads = steps.forward_pass(subject), False
            given = given[: max(1, len(given) - 1)]
        with Recording() as recording, torch.set_grad_enabled(grads):
            step(*given)
    return recording.counts


def main(device: str, names: list[str]) -> None:
    """Print the operations of each model's step on a device, or the error that ended it, as lines of JSON."""
    for name in names:
        try:
            found: Any = dict(operations(name, device, train=True))
        except Exception as error:
            found = f"{type(error).__name__}: {error}".splitlines()[0]
        print(json.dumps({name: found}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
