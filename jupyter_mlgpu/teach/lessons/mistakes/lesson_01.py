"""Lesson 01: hints and likely mistakes."""

from __future__ import annotations

import re
from typing import Any

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.coaching import coaching


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


def no_device(device: Any, a: Any, b: Any) -> Any:
    import tensorflow as tf

    return tf.matmul(a, b)


def always_the_processor(device: Any, a: Any, b: Any) -> Any:
    import tensorflow as tf

    with tf.device("cpu:0"):
        return tf.matmul(a, b)


_FAILED = r"Failed in processing TensorFlow graph (\S+) .*?"


def number_of_the_log(log: Any) -> Any:
    return dict(re.findall(rf"{_FAILED} for (?:node: )?(\S+)", log))


def two_forms_alone(log: Any) -> Any:
    return dict(re.findall(rf"{_FAILED} for node: (?:n\d+ = )?(\S+)", log))


def nothing_for_a_reason(log: Any) -> Any:
    found = re.findall(rf"{_FAILED}(?: for (?:node: (?:n\d+ = )?|n\d+ = )(\S+).*)?\n", log)
    return dict(found)


COACHING = {
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
    "product_on": coaching(
        hints=[
            say("A right product does not say where it was computed. Look at the second part of the table."),
            say(
                "What is written inside the block of `with tf.device(...)` is made on that "
                "device; what comes after it is not."
            ),
            say("Put the line with tf.matmul inside the block, indented."),
        ],
        mistakes=[
            (
                say(
                    "The product was not made on the device: nothing, or something else, stands "
                    "inside the block."
                ),
                no_device,
            ),
            (say("You asked for the processor, whatever device was named."), always_the_processor),
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
