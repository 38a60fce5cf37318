"""Counts how many different random numbers the workers of a PyTorch DataLoader draw; it needs no GPU."""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from jupyter_mlgpu.lessons import figures


class Drawn(Dataset):
    """Sixteen pictures' random numbers: of the dataset's own generator, and of NumPy's global one."""

    def __init__(self):
        self.draw = np.random.default_rng(0)

    def __len__(self):
        return 16

    def __getitem__(self, index):
        return torch.tensor([self.draw.integers(1_000_000_000), np.random.randint(1_000_000_000)])


def different(workers):
    """How many different numbers each generator gave."""
    drawn = torch.cat(list(DataLoader(Drawn(), 2, num_workers=workers)))
    return [len(set(column.tolist())) for column in drawn.T]


if __name__ == "__main__":
    generators = ("made before the workers start", "NumPy's global one")
    found = {count: different(count) for count in (0, 4)}
    rows = [
        {"generator": name, "without workers": found[0][at], "4 workers": found[4][at]}
        for at, name in enumerate(generators)
    ]
    print(figures("17_seeds", rows))
