"""Lesson 01: hints and likely mistakes."""

from __future__ import annotations

import re
from typing import Any

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.coaching import coaching
from jupyter_mlgpu.teach.lessons.exercises.lesson_01 import older


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


def whole_first_word(line: Any) -> Any:
    words = [*line.split(), "", "", ""]
    if words[1].endswith(":") and words[2] in ("I", "W", "E", "F"):
        return words[2]
    if words[0][:1] in ("I", "W", "E", "F") and words[0][1:].isdigit() and ":" in words[1]:
        return words[0]
    return ""


def the_date(line: Any) -> Any:
    words = [*line.split(), "", "", ""]
    if words[1].endswith(":") and words[2] in ("I", "W", "E", "F"):
        return words[0]
    if words[0][:1] in ("I", "W", "E", "F") and words[0][1:].isdigit() and ":" in words[1]:
        return words[0][0]
    return ""


_FAILED = r"Failed in processing TensorFlow graph (\S+) .*?"


def number_of_the_log(log: Any) -> Any:
    return dict(re.findall(rf"{_FAILED} for (?:node: )?(\S+)", log))


def two_forms_alone(log: Any) -> Any:
    return dict(re.findall(rf"{_FAILED} for node: (?:n\d+ = )?(\S+)", log))


def nothing_for_a_reason(log: Any) -> Any:
    found = re.findall(rf"{_FAILED}(?: for (?:node: (?:n\d+ = )?|n\d+ = )(\S+).*)?\n", log)
    return dict(found)


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
    "severity": coaching(
        hints=[
            say("In which word of the line does the letter stand, in each of the two forms?"),
            say(
                "TensorFlow's letter is a word of its own; abseil's stands in front of the "
                "date, in one word with it."
            ),
            say("words[2] is the third word, and words[0][0] the first character of the first."),
        ],
        mistakes=[
            (say("You gave abseil's whole first word: the letter is its first character."), whole_first_word),
            (say("You gave the first word in TensorFlow's form, which is the date."), the_date),
        ],
    ),
    "reasons": coaching(
        hints=[
            say(
                "Go through the log line by line. Which words stand in each line of a failure, and in no "
                "other? What stands right behind them?"
            ),
            say(
                "The subgraph is the word after `TensorFlow graph`. The operation stands behind `for node:` "
                "or behind `for`; where a number such as `n10 =` comes first, it is the word after that."
            ),
            say(
                "One pattern can do it: `for `, then `node: `, or a number with ` = `, or both, and then the "
                "name, `(\\S+)`."
            ),
        ],
        mistakes=[
            (
                say("You took a number of the log's own, such as n10: the operation stands behind its `=`."),
                number_of_the_log,
            ),
            (
                say(
                    "One form is missing: where a layer could not be created, the operation stands behind "
                    "`for` without `node:`."
                ),
                two_forms_alone,
            ),
            (
                say("A line that names no operation gives no reason: leave its subgraph out."),
                nothing_for_a_reason,
            ),
        ],
    ),
}
