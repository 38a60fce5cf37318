"""Lesson 01: versions compared, a machine's fault, a log line's severity, and why a subgraph fell back."""

from __future__ import annotations

import random
from typing import Any

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.checking import Answer, Arguments, Exercise

#: A report on a machine: versions (None if unknown), and packages and variables by name.
Machine = dict[str, Any]

_PATH = {"DYLD_LIBRARY_PATH": "/usr/local/cuda/lib"}
_HEALTHY: Machine = {
    "macos": "15.6",
    "told": "15.6",
    "packages": {"tensorflow": "2.19.1", "tensorflow-metal": "1.2.0"},
    "shell": {},
    "kernel": {},
}


def older(version: Any, than: Any) -> Any:
    """Return True if a version such as "2.9.1" comes before another, by its three numbers."""
    return [int(part) for part in version.split(".")] < [int(part) for part in than.split(".")]


def diagnosis(machine: Any) -> Any:
    """Return the check that names a machine's fault, or "none" if none of the three finds one."""
    packages = machine["packages"]
    if "tensorflow-metal" in packages and not older(packages["tensorflow"], "2.20.0"):
        return "metal-plugin-version"
    if machine["told"] not in (None, machine["macos"]):
        return "system-version-compat"
    if set(machine["shell"]) - set(machine["kernel"]):
        return "library-path-lost"
    return "none"


def each_version(answer: Answer, arguments: Arguments) -> object:
    """Return the answer for each version."""
    versions, than = arguments["versions"], str(arguments["than"])
    assert isinstance(versions, list)
    found = {
        say("{version} before {than}", version=str(one), than=than): answer(one, than) for one in versions
    }
    return None if any(one is None or one is ... for one in found.values()) else found


def each_machine(answer: Answer, arguments: Arguments) -> object:
    """Return the answer for each machine, by a description of the machine."""
    machines = arguments["machines"]
    assert isinstance(machines, list)
    found = {f"{number}. {_description(one)}": answer(one) for number, one in enumerate(machines, 1)}
    return None if any(one is None or one is ... for one in found.values()) else found


def _description(machine: Machine) -> str:
    """Return a machine in one line: its packages, its Python version, and the places of the variables."""
    parts = [f"{name} {version}" for name, version in machine["packages"].items()]
    parts += [f"macOS {machine['macos']}", f"told {machine['told']}"]
    for name in machine["shell"]:
        parts.append(f"{name} in the shell{' and the kernel' if name in machine['kernel'] else ''}")
    return ", ".join(parts)


def _fresh_versions(draw: random.Random) -> Arguments:
    major, minor, patch = draw.randint(2, 9), draw.randint(11, 29), draw.randint(2, 8)
    versions = [
        f"{major}.{draw.randint(3, 9)}.{draw.randint(0, 9)}",  # later as text, and as a decimal
        f"{major}.{minor}.{patch - 1}",
        f"{major}.{minor}.{patch}",
        f"{major}.{minor}.{patch + 1}",
        f"{major}.{minor + 1}.0",
        f"1{draw.randint(0, 9)}.{draw.randint(0, 9)}.0",  # earlier as text
    ]
    draw.shuffle(versions)
    return {"versions": versions, "than": f"{major}.{minor}.{patch}"}


def _machine(**changes: Any) -> Machine:
    return {**_HEALTHY, **changes}


def _fresh_machines(draw: random.Random) -> Arguments:
    new, old = f"2.{draw.randint(20, 23)}.0", f"2.{draw.randint(8, 19)}.{draw.randint(0, 2)}"
    metal, macos = f"1.{draw.randint(0, 2)}.0", f"{draw.randint(12, 26)}.{draw.randint(0, 6)}"
    machines = [
        _machine(packages={"tensorflow": new, "tensorflow-metal": metal}),
        _machine(packages={"tensorflow": old, "tensorflow-metal": metal}),
        _machine(packages={"tensorflow": new}),
        _machine(packages={}, macos=macos, told="10.16"),
        _machine(packages={}, macos=macos, told=None),
        _machine(packages={"tensorflow": old}, shell=_PATH),
        _machine(packages={"tensorflow": old}, shell=_PATH, kernel=_PATH),
    ]
    draw.shuffle(machines)
    return {"machines": machines}


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
        name="older",
        task=say("return whether the first version comes before the second, number by number"),
        reference=older,
        # 2.9 is older than 2.20, although text and decimal numbers say otherwise; 10 begins with a 1.
        example={
            "versions": ["2.9.1", "2.19.1", "2.20.0", "2.21.0", "10.13.6"],
            "than": "2.20.0",
        },
        fresh=_fresh_versions,
        run=each_version,
    ),
    Exercise(
        name="diagnosis",
        task=say("return the name of the check that fits the machine"),
        reference=diagnosis,
        example={
            "machines": [
                _machine(packages={"tensorflow": "2.21.0", "tensorflow-metal": "1.1.0"}),
                _machine(packages={"tensorflow": "2.20.0"}),
                _machine(packages={}, macos="13.5", told="10.16"),
                _machine(packages={"tensorflow": "2.13.0"}, macos="14.5", told=None, shell=_PATH),
                _machine(packages={"tensorflow": "2.13.0"}, shell=_PATH, kernel=_PATH),
            ]
        },
        fresh=_fresh_machines,
        run=each_machine,
    ),
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
