"""What TensorFlow really did with one `fit` on the emulated device: where operations ran, what was copied.

`python -m tests.metal_emulator.placement mlp cnn` writes a line of JSON for each model. Grappler is off, so
the graphs that the executor got still hold every operation, with functions inlined, as their names say.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.metal_emulator import building

PLUG_IN = "TF_PLUGGABLE_DEVICE_LIBRARY_PATH"
COPIES = "METAL_EMULATOR_COPIES"


@dataclasses.dataclass(frozen=True)
class Copy:
    """A tensor that went to the other memory: who made it, the how manieth of its results, and where to."""

    node: str
    output: int
    to: str


@dataclasses.dataclass(frozen=True)
class Placed:
    """One `fit`: the device (`cpu` or `gpu`) of each operation by name, the copies between the memories, and
    the bytes of every copy that the device was asked for during the second step, by where they went."""

    model: str
    devices: dict[str, str]
    operations: dict[str, str]
    copies: tuple[Copy, ...]
    step_bytes: dict[str, list[int]]

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Placed:
        data = json.loads(text)
        return cls(**{**data, "copies": tuple(Copy(**one) for one in data["copies"])})


def fitted(name: str, log: Path) -> Placed:
    """Fit the model of this name and read TensorFlow's own graphs of its training step."""
    from tensorflow.python.eager import context

    from tests.metal_emulator import models

    model, x, y = models.made(name)
    steps: list[dict[str, list[int]]] = []
    model.make_train_function()
    model.train_function = _watched(model.train_function, log, steps)
    running = context.context()
    running.ensure_initialized()
    running.enable_graph_collection()
    try:
        model.fit(x, y, epochs=1, verbose=0)
        found = running.export_run_metadata()
    finally:
        running.disable_graph_collection()
    parts = max((one.partition_graphs for one in found.function_graphs), key=_size)
    nodes = {node.name: node for graph in parts for node in graph.node if node.op not in _HAND_OVERS}
    return Placed(
        name,
        {node.name: "gpu" if "GPU" in node.device else "cpu" for node in nodes.values()},
        {node.name: node.op for node in nodes.values()},
        tuple(_copies(parts, nodes)),
        steps[1],
    )


_SENDS, _RECEIVES = ("_Send", "_HostSend"), ("_Recv", "_HostRecv")
_HAND_OVERS = (*_SENDS, *_RECEIVES)


def _size(parts: Any) -> int:
    return sum(len(graph.node) for graph in parts)


def _watched(train: Any, log: Path, steps: list[dict[str, list[int]]]) -> Any:
    """The training function, with each step's copies kept; those of the first also hold its constants."""
    held = train.__code__.co_freevars.index("multi_step_on_iterator")
    one_step = train.__closure__[held].cell_contents

    def function(iterator: Any) -> Any:
        before = log.stat().st_size
        outputs = one_step(iterator)  # returns when every copy was made
        lines = log.read_bytes()[before:].decode().splitlines()
        if not outputs.has_value():
            raise StopIteration
        sizes: dict[str, list[int]] = {"device": [], "host": []}
        for line in lines:
            where, size = line.split()
            sizes[where].append(int(size))
        steps.append({where: sorted(found) for where, found in sizes.items()})
        return outputs.get_value()

    return function


def _copies(parts: Any, nodes: dict[str, Any]) -> Iterator[Copy]:
    """The tensors that really went from one memory to the other, by who made them."""
    received = {
        node.attr["tensor_name"].s: node for graph in parts for node in graph.node if node.op in _RECEIVES
    }
    for graph in parts:
        for node in graph.node:
            if node.op not in _SENDS:
                continue
            maker, _, output = node.input[0].partition(":")
            if maker.startswith("^") or "/ctrl/" in maker:
                continue  # says when, and holds nothing
            made = _memory(node.attr["send_device"].s, node.op == "_HostSend")
            end = received[node.attr["tensor_name"].s]
            to = _memory(node.attr["recv_device"].s, end.op == "_HostRecv")
            if made != to:
                yield Copy(*_maker(maker, int(output or 0), nodes), to)


def _memory(device: bytes, host: bool) -> str:
    return "device" if b"GPU" in device and not host else "host"


def _maker(name: str, output: int, nodes: dict[str, Any]) -> tuple[str, int]:
    """Who made a tensor that inlining and lowering hand on through operations of their own."""
    while name.startswith("Func/") or nodes[name].op == "Switch":
        given = next(one for one in nodes[name].input if not one.startswith("^"))
        name, _, place = given.partition(":")
        output = int(place or 0)
    return name, output


def main(names: list[str]) -> None:
    os.environ[PLUG_IN] = str(building.library())
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    with tempfile.NamedTemporaryFile() as log:
        os.environ[COPIES] = log.name
        import tensorflow as tf

        # Grappler would fold and fuse before the executor's graphs are kept.
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
        for name in names:
            print(fitted(name, Path(log.name)).to_json(), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
