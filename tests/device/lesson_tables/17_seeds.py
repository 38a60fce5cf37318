"""Counts how many different random numbers the workers of a PyTorch DataLoader draw; it needs no GPU."""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info

from jupyter_mlgpu.lessons import figures

PICTURES, WORKERS, EPOCHS = 16, 4, 2


class OwnGenerator(Dataset):
    """Draws a number for each picture with a generator that is made before the workers start."""

    def __init__(self):
        self.draw = np.random.default_rng(0)

    def __len__(self):
        return PICTURES

    def __getitem__(self, index):
        return torch.tensor(int(self.draw.integers(1_000_000_000)))


class TorchGenerator(OwnGenerator):
    """Draws with PyTorch's own generator."""

    def __getitem__(self, index):
        return torch.randint(1_000_000_000, ())


def own_generator(number):
    """Give the data set of a worker a generator with the worker's seed."""
    worker = get_worker_info()
    worker.dataset.draw = np.random.default_rng(worker.seed)


def different(data, workers, epochs, worker_init_fn=None):
    """Return how many different numbers were drawn."""
    loader = DataLoader(data, 2, num_workers=workers, worker_init_fn=worker_init_fn)
    return len({number for _ in range(epochs) for batch in loader for number in batch.tolist()})


if __name__ == "__main__":
    torch.manual_seed(0)
    rows = [
        {
            "numbers from": name,
            "no workers": None if start else different(kind(), 0, 1),
            f"{WORKERS} workers": different(kind(), WORKERS, 1, start),
            f"{WORKERS} workers, {EPOCHS} epochs": different(kind(), WORKERS, EPOCHS, start),
        }
        for name, kind, start in (
            ("a generator of the data set", OwnGenerator, None),
            ("the same, made anew in each worker", OwnGenerator, own_generator),
            ("PyTorch's generator", TorchGenerator, None),
        )
    ]
    print(figures("17_seeds", rows))
