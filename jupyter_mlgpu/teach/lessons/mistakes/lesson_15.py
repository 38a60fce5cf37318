"""Lesson 15: hints and likely mistakes."""

from __future__ import annotations

from typing import Any

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.coaching import coaching
from jupyter_mlgpu.teach.lessons.exercises.lesson_15 import faults, older


def as_text(version: Any, than: Any) -> Any:
    return version < than


def as_decimal_numbers(version: Any, than: Any) -> Any:
    return float(version.rpartition(".")[0]) < float(than.rpartition(".")[0])


def equal_counts(version: Any, than: Any) -> Any:
    return [int(part) for part in version.split(".")] <= [int(part) for part in than.split(".")]


def plugin_not_asked_for(machine: Any) -> Any:
    packages = machine["packages"]
    if "tensorflow" in packages and not older(packages["tensorflow"], "2.20.0"):
        return "metal-plugin-version"
    if machine["told"] not in (None, machine["macos"]):
        return "system-version-compat"
    if set(machine["shell"]) - set(machine["kernel"]):
        return "library-path-lost"
    return "none"


def unknown_is_a_fault(machine: Any) -> Any:
    packages = machine["packages"]
    if "tensorflow-metal" in packages and not older(packages["tensorflow"], "2.20.0"):
        return "metal-plugin-version"
    if machine["told"] != machine["macos"]:
        return "system-version-compat"
    if set(machine["shell"]) - set(machine["kernel"]):
        return "library-path-lost"
    return "none"


def kernel_not_asked(machine: Any) -> Any:
    packages = machine["packages"]
    if "tensorflow-metal" in packages and not older(packages["tensorflow"], "2.20.0"):
        return "metal-plugin-version"
    if machine["told"] not in (None, machine["macos"]):
        return "system-version-compat"
    if machine["shell"]:
        return "library-path-lost"
    return "none"


def first_fault_alone(machine: Any) -> Any:
    return faults(machine)[:1]


def macos_without_the_plugin(machine: Any) -> Any:
    others = [one for one in faults(machine) if one != "metal-macos"]
    is_old = bool(machine["macos"]) and older(machine["macos"], "12.0")
    return ["metal-macos", *others] if is_old else others


def as_it_was_written(machine: Any) -> Any:
    order = ("metal-plugin-version", "system-version-compat", "library-path-lost", "metal-macos")
    return sorted(faults(machine), key=order.index)


COACHING = {
    "older": coaching(
        hints=[
            say("In the first row, which number decides: and is 9 more than 20, or less?"),
            say(
                "A version is a row of whole numbers. Split it at its dots, make a number of each part, "
                "and compare part by part."
            ),
            say(
                "Python compares two lists part by part: [2, 9, 1] < [2, 20, 0]. "
                '`version.split(".")` gives the parts as text, `int` makes a number of one.'
            ),
        ],
        mistakes=[
            (say('You compared text, letter by letter: there, "2.9" comes after "2.20".'), as_text),
            (
                say("You compared decimal numbers: as one, 2.20 is the same as 2.2, and less than 2.9."),
                as_decimal_numbers,
            ),
            (say("A version does not come before itself: you counted equal ones, too."), equal_counts),
        ],
    ),
    "diagnosis": coaching(
        hints=[
            say("Find the first row that differs. What does that machine have, and what does it lack?"),
            say(
                "Each fault is a pair that does not fit: a plug-in and its TensorFlow, macOS and what Python "
                "is told, the shell and the kernel. Where one half is missing or unknown, there is no fault."
            ),
            say(
                "Ask for the plug-in before its TensorFlow's version; let None pass; and take from the "
                "shell's names those that the kernel has, too."
            ),
        ],
        mistakes=[
            (
                say(
                    "You blamed TensorFlow on a machine without the plug-in: "
                    "nothing is there that could not load."
                ),
                plugin_not_asked_for,
            ),
            (
                say("None stands for what the report does not say: what is unknown is no fault."),
                unknown_is_a_fault,
            ),
            (
                say("The kernel of one machine has the variable, too: nothing is lost there."),
                kernel_not_asked,
            ),
        ],
    ),
    "faults": coaching(
        hints=[
            say(
                "Compare your row with the other one, name by name: is one missing, one too many, or are "
                "they in another order?"
            ),
            say(
                "The order is that of the drawing, from the top: the system itself, what Python is told of "
                "it, the plug-in and its framework, what reaches the kernel."
            ),
            say(
                "Begin with an empty list, and let each of four conditions, in that order, append its name. "
                "The first asks for the plug-in, for a macOS that is known, and whether it is older than "
                '"12.0".'
            ),
        ],
        mistakes=[
            (
                say("You stopped at the first fault: a machine can have several."),
                first_fault_alone,
            ),
            (
                say("You blamed macOS on a machine without the plug-in: nothing there needs version 12."),
                macos_without_the_plugin,
            ),
            (
                say("These are the right names in another order: begin with what lies deepest, the system."),
                as_it_was_written,
            ),
        ],
    ),
}
