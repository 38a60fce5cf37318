"""Lesson 15: compare versions, find the check that names a machine's fault, and list all such checks."""

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


def faults(machine: Any) -> Any:
    """Return all of the four checks that find something, in the doctor's order."""
    packages = machine["packages"]
    with_plugin = "tensorflow-metal" in packages
    found = []
    if with_plugin and machine["macos"] and older(machine["macos"], "12.0"):
        found.append("metal-macos")
    if machine["told"] not in (None, machine["macos"]):
        found.append("system-version-compat")
    if with_plugin and not older(packages["tensorflow"], "2.20.0"):
        found.append("metal-plugin-version")
    if set(machine["shell"]) - set(machine["kernel"]):
        found.append("library-path-lost")
    return found


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


def every_fault(answer: Answer, arguments: Arguments) -> object:
    """Return the answer's list for each machine, joined in one line."""
    found = each_machine(answer, arguments)
    if not isinstance(found, dict):
        return found
    return {
        machine: (", ".join(map(str, one)) or say("none")) if isinstance(one, list | tuple) else one
        for machine, one in found.items()
    }


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


def _fresh_faulty_machines(draw: random.Random) -> Arguments:
    new, old = f"2.{draw.randint(20, 23)}.0", f"2.{draw.randint(8, 19)}.{draw.randint(0, 2)}"
    before_12 = draw.choice([f"11.{draw.randint(0, 7)}", f"10.15.{draw.randint(1, 7)}"])
    later, metal = f"{draw.randint(12, 26)}.{draw.randint(0, 6)}", f"1.{draw.randint(0, 2)}.0"
    pair = {"tensorflow": new, "tensorflow-metal": metal}
    machines = [
        _machine(macos=before_12, told=before_12, packages=pair),
        _machine(macos=before_12, told=None, packages={"tensorflow": old}, shell=_PATH),
        _machine(macos=later, told="10.16", packages=pair, shell=_PATH),
        _machine(macos=later, told=later, packages=pair | {"tensorflow": old}, shell=_PATH, kernel=_PATH),
        _machine(macos=None, told=None, packages=pair),
        _machine(macos=f"11.{draw.randint(0, 7)}", told="10.16", packages=pair, shell=_PATH),
    ]
    draw.shuffle(machines)
    return {"machines": machines}


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
        name="faults",
        task=say(
            "return a list of the names of all checks that find something, causes before what follows from "
            "them"
        ),
        reference=faults,
        # Two faults at once; an old system without the plug-in; one told another version; nothing told.
        example={
            "machines": [
                _machine(
                    macos="11.6", told="11.6", packages={"tensorflow": "2.20.0", "tensorflow-metal": "1.1.0"}
                ),
                _machine(macos="11.6", told=None, packages={"tensorflow": "2.13.0"}),
                _machine(macos="12.0", told="10.16", shell=_PATH),
                _machine(macos=None, told=None),
            ]
        },
        fresh=_fresh_faulty_machines,
        run=every_fault,
    ),
)
