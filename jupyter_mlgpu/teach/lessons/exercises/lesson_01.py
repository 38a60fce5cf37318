"""Lesson 01: a log line's severity, a product on a chosen device, and why a subgraph fell back."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.checking import Answer, Arguments, Exercise

#: Text after the severity letter, shortened from lines that TensorFlow prints.
_FILES = {
    "I": "tensorflow/core/platform/cpu_feature_guard.cc:210] This TensorFlow binary is optimized.",
    "W": "tensorflow/core/common_runtime/bfc_allocator.cc:457] Allocator ran out of memory.",
    "E": "tensorflow/core/grappler/clusters/utils.cc:81] Not found: TF GPU device with id 0.",
    "F": "tensorflow/core/platform/statusor.cc:33] Attempting to fetch value instead of error.",
}
#: Characters of a line that are enough to tell it from the others.
_SHOWN = 42

_PLAIN = (
    "Metal device set to: Apple M1 Max",
    "systemMemory: 64.00 GB",
    "",
    "Epoch 1/3",
    "We call F the force",  # its third word is a letter
    "Found: 2 devices",
    "WARNING: All log messages before absl::InitializeLog() is called are written to STDERR",
)


def severity(line: Any) -> Any:
    """Return I, W, E or F for a log line of TensorFlow or abseil, else an empty string."""
    words = [*line.split(), "", "", ""]
    if words[1].endswith(":") and words[2] in ("I", "W", "E", "F"):
        return words[2]  # 2018-07-07 10:00:00.123456: E file
    if words[0][:1] in ("I", "W", "E", "F") and words[0][1:].isdigit() and ":" in words[1]:
        return words[0][0]  # E0000 00:00:1764144000.123456 1234 file
    return ""


def product_on(device: Any, a: Any, b: Any) -> Any:
    """Return the matrix product of two lists of rows, computed on the named device."""
    import tensorflow as tf

    with tf.device(device):
        return tf.matmul(a, b)


def reasons(log: Any) -> Any:
    """Return the operation that a line names as the reason, by the name of the failed subgraph."""
    import re

    named = r"Failed in processing TensorFlow graph (\S+) .*? for (?:node: (?:n\d+ = )?|n\d+ = )(\S+)"
    return dict(re.findall(named, log))


def line_by_line(answer: Answer, arguments: Arguments) -> object:
    """Return the answer for each line, by the beginning of the line."""
    lines = arguments["lines"]
    assert isinstance(lines, list)
    letters = [answer(line) for line in lines]
    if any(one is None or one is ... for one in letters):
        return None
    return {f"{line[:_SHOWN]!r}": letter for line, letter in zip(lines, letters, strict=True)}


def numbers_and_place(answer: Answer, arguments: Arguments) -> object:
    """Return the product on the first device here, and the device of the product in a graph."""
    import tensorflow as tf

    device, a, b = arguments.values()
    here = tf.config.list_logical_devices()[0].name
    product = answer(here, a, b)
    if product is None or product is ...:
        return None
    with tf.Graph().as_default():  # a graph can name a device that does not exist here
        described = answer(device, a, b)
    operation = getattr(described, "op", None)
    place = getattr(operation, "device", "").rsplit("device:", 1)[-1].lower()
    return {say("product"): product, say("computed on"): place or say("no specific device")}


def _line(letter: str, draw: random.Random) -> str:
    date = f"20{draw.randint(17, 26)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"
    time = f"{draw.randrange(24):02}:{draw.randrange(60):02}:{draw.randrange(60):02}"
    return f"{date} {time}.{draw.randrange(10**6):06}: {letter} {_FILES[letter]}"


def _abseil_line(letter: str, draw: random.Random) -> str:
    """Return a line in abseil's format: 0000 for the date before setup, and seconds since 1970."""
    day = draw.choice(["0000", f"{draw.randint(1, 12):02}{draw.randint(1, 28):02}"])
    seconds = draw.randint(1_600_000_000, 1_800_000_000)
    file = _FILES[letter].rpartition("/")[2]
    return f"{letter}{day} 00:00:{seconds}.{draw.randrange(10**6):06} {draw.randint(2, 99_999):7} {file}"


def _fresh_lines(draw: random.Random) -> Arguments:
    lines = [write(letter, draw) for letter in _FILES for write in (_line, _abseil_line)]
    lines += draw.sample(_PLAIN, 4)
    draw.shuffle(lines)
    return {"lines": lines}


def _fresh_product(draw: random.Random) -> Arguments:
    rows, between, columns = draw.randint(2, 3), draw.randint(2, 4), draw.randint(2, 3)
    values = np.random.default_rng(draw.randrange(2**32))
    return {
        "device": f"{draw.choice(['cpu', 'gpu'])}:{draw.randint(1, 5)}",
        "a": values.integers(1, 10, (rows, between)).astype(np.float32).tolist(),
        "b": values.integers(1, 10, (between, columns)).astype(np.float32).tolist(),
    }


_OPERATIONS = ("RealDiv", "MatMul", "Reshape", "Relu", "BiasAdd", "Mul", "Conv2D")
_FORK = "tensorflow/compiler/tf2mlcompute"
_CONVERTED = (
    f"I {_FORK}/convert/mlc_convert_graph.cc:2599] Finished converting subgraph {{subgraph}} with id = 3 for "
    "TensorFlow graph with id = 0."
)
_FALLING_BACK = f"I {_FORK}/kernels/mlc_subgraph_op.cc:390] Falling back to TensorFlow..."
#: The reasons, in the forms of the fork's public logs. The last one names no operation.
_WHY = (
    "AddLayerToMLCGraph: Failed to add layer to MLCGraph for node: n{number} = {node} ({operation}).",
    "PerformGradientPassNodeRoutine: Failed to find forward-pass output for node: {node}",
    "CreateMLC{operation}Layer: Failed to create MLC{operation}Layer for n{number} = {node} ({operation})",
    "ConvertSubgraph: Failed to compile MLCTrainingGraph.",
)


def _failed(subgraph: str, why: str) -> str:
    return (
        f"I {_FORK}/kernels/mlc_subgraph_op.cc:332] Compute: Failed in processing TensorFlow graph "
        f"{subgraph} with frame_id = 0 and iter_id = 0 with error: Internal: {why} (error will be reported 5 "
        "times unless TF_MLC_LOGGING=1)."
    )


def _fork_log(lines: list[str]) -> str:
    times = (f"2021-03-08 20:50:{10 + number}.716976: " for number in range(len(lines)))
    return "".join(f"{time}{line}\n" for time, line in zip(times, lines, strict=True))


def _fresh_fork_log(draw: random.Random) -> Arguments:
    lines = []
    for number, why in enumerate(draw.sample(_WHY, len(_WHY))):
        operation = draw.choice(_OPERATIONS)
        node = f"{draw.choice(['dropout', 'dense_2', 'model/head'])}/{operation}_{draw.randint(1, 30)}"
        before = draw.choice(["", "train/gradients/", "gradient_tape/sequential/"])
        subgraph = f"{before}MLCSubgraphOp_{draw.randint(0, 3)}_{number}"
        said = why.format(node=node, operation=operation, number=draw.randint(1, 60))
        lines += [_CONVERTED.format(subgraph=subgraph), _failed(subgraph, said), _FALLING_BACK]
    return {"log": _fork_log(lines)}


EXERCISES = (
    Exercise(
        name="severity",
        task=say("return the letter of a line that begins in one of the two ways, else an empty string"),
        reference=severity,
        # The letters also occur in file names and in words.
        example={
            "lines": [
                f"2018-07-07 10:00:00.123456: E {_FILES['E']}",
                "W0000 00:00:1764144000.123456    1234 bfc_allocator.cc:457] Allocator ran out of memory.",
                _PLAIN[0],
                "We call F the force",
            ]
        },
        fresh=_fresh_lines,
        run=line_by_line,
    ),
    Exercise(
        name="product_on",
        task=say("return the matrix product of a and b, made on that device"),
        reference=product_on,
        example={
            "device": "gpu:3",
            "a": [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]],
            "b": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
        },
        fresh=_fresh_product,
        run=numbers_and_place,
    ),
    Exercise(
        name="reasons",
        task=say(
            "return a dictionary: for each subgraph that failed and whose line names an operation, the name "
            "of that operation"
        ),
        reference=reasons,
        # The three forms, a line that names no operation, and one without a failure.
        example={
            "log": _fork_log(
                [
                    _failed("MLCSubgraphOp_0_0", _WHY[3]),
                    _FALLING_BACK,
                    _failed(
                        "MLCSubgraphOp_0_1",
                        _WHY[0].format(node="dropout/RealDiv", operation="RealDiv", number=10),
                    ),
                    _failed("train/gradients/MLCSubgraphOp_0_7", _WHY[1].format(node="Reshape_1")),
                    _failed(
                        "MLCSubgraphOp_0_9",
                        _WHY[2].format(node="dense/MatMul_1", operation="MatMul", number=20),
                    ),
                ]
            )
        },
        fresh=_fresh_fork_log,
    ),
)
