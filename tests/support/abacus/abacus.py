"""A framework that jupyter_mlgpu does not bring: it adds numbers, on a CPU and on a GPU that it pretends."""

__version__ = "6.1"

DEVICES = ("cpu:0", "gpu:0")

#: Where the next sum is worked out, and where each so far was.
device = DEVICES[0]
ran_on: list[str] = []


def add(a: float, b: float) -> float:
    ran_on.append(device)
    return a + b
