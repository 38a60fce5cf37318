"""Times the steps of lesson 14 in two processes; prints the medians of fifteen sweeps."""

import json
import multiprocessing
import secrets
import time
from multiprocessing.connection import Client, Listener
from pathlib import Path

import numpy as np

LESSON = Path(__file__).resolve().parents[3] / "notebooks" / "14_beyond_one_machine.ipynb"
BATCHES = [2**exponent for exponent in range(4, 13)]


def cells():
    """The code of the lesson's cells, without the magics that send them to engines."""
    found = json.loads(LESSON.read_text(encoding="utf-8"))["cells"]
    return {
        one["id"]: "".join(one["source"]).replace("%%px --local", "").replace("%%px", "") for one in found
    }


def engine(rank, key, port, pipe):
    """One of the two processes: takes data and the names of steps, and gives seconds."""
    if rank == 0:
        listener = Listener(("127.0.0.1", 0), authkey=key)
        port.put(listener.address[1])
        other = listener.accept()
    else:
        other = Client(("127.0.0.1", port.get()), authkey=key)

    def together(gradients, images):
        return sum(one * count for one, count in zip(gradients, images, strict=True)) / sum(images)

    names = {"np": np, "time": time, "rank": rank, "other": other, "together": together}
    code = cells()
    exec(code["network"], names)
    exec(code["connect"][code["connect"].index("def exchange") :], names)
    exec(code["steps"], names)
    while True:
        asked = pipe.recv()
        if isinstance(asked, dict):
            names.update(asked)
            pipe.send(0.0)
        else:
            pipe.send(names["seconds"](names[asked]))


def ask(pipes, questions):
    """Milliseconds of the slowest of them."""
    for pipe, question in zip(pipes, questions, strict=True):
        pipe.send(question)
    return max([pipe.recv() for pipe in pipes]) * 1000


def sweep(pipes, images, labels, weights):
    """One process, two, and the exchange alone, for each batch."""
    rows = []
    for batch in BATCHES:
        half = batch // 2
        shares = [slice(0, half), slice(half, batch)]
        common = {"weights": weights, "sizes": [half, half], "whole": images[:batch]}
        common["whole_labels"] = labels[:batch]
        ask(pipes, [{**common, "images": images[one], "labels": labels[one]} for one in shares])
        alone = ask(pipes[:1], ["step_alone"])
        rows.append((alone, ask(pipes, ["step_shared"] * 2), ask(pipes, ["step_exchange"] * 2)))
    return rows


def main():
    from sklearn.datasets import load_digits

    digits = load_digits()
    large = np.pad(np.kron(digits.images / 16, np.ones((3, 3))), ((0, 0), (2, 2), (2, 2)))
    images = np.resize(large.reshape(-1, 784).astype("float32"), (4096, 784))
    labels = np.resize(digits.target, 4096)
    weights = np.random.default_rng(7).standard_normal(784 * 128 + 128 * 10).astype("float32") * 0.05
    key, port = secrets.token_bytes(16), multiprocessing.Queue()
    pipes = []
    for rank in (0, 1):
        here, there = multiprocessing.Pipe()
        arguments = (rank, key, port, there)
        multiprocessing.Process(target=engine, args=arguments, daemon=True).start()
        pipes.append(here)
    sweeps = np.array([sweep(pipes, images, labels, weights.astype("float32")) for _ in range(15)])
    print(np.round(sweeps[:, :, 0] / sweeps[:, :, 1], 2))
    for batch, (alone, shared, exchange) in zip(BATCHES, np.median(sweeps, axis=0), strict=True):
        print(f"{batch:5} {alone:8.3g} {shared:8.3g} {exchange:8.3g} {alone / shared:6.2f}")


if __name__ == "__main__":
    main()
