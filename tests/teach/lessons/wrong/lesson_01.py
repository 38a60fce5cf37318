"""Wrong answers to the exercises of lesson 01: likely mistakes, each of which has to be rejected."""

import re

import numpy as np
import tensorflow as tf


def always_information(line):
    return "I"


def any_letter_anywhere(line):
    return next((letter for letter in "IWEF" if letter in line), "")


def third_word_whatever_it_is(line):
    words = line.split()
    return words[2] if len(words) > 2 else ""


def first_letter(line):
    return line[:1]


def whole_lines_only(line):
    return line.split()[2]


def no_abseil(line):
    words = line.split()
    begins = len(words) > 2 and words[1].endswith(":") and words[2] in ("I", "W", "E", "F")
    return words[2] if begins else ""


def the_whole_first_word_of_abseil(line):
    words = [*line.split(), "", "", ""]
    if words[1].endswith(":") and words[2] in ("I", "W", "E", "F"):
        return words[2]
    if words[0][:1] in ("I", "W", "E", "F") and words[0][1:].isdigit() and ":" in words[1]:
        return words[0]
    return ""


def no_device(device, a, b):
    return tf.matmul(a, b)


def always_the_processor(device, a, b):
    with tf.device("cpu:0"):
        return tf.matmul(a, b)


def leaves_too_early(device, a, b):
    with tf.device(device):
        a, b = tf.constant(a), tf.constant(b)
    return tf.matmul(a, b)


def the_other_way_round(device, a, b):
    with tf.device(device):
        return tf.matmul(b, a)


def element_by_element(device, a, b):
    with tf.device(device):
        return tf.constant(a) * tf.transpose(tf.constant(b))


def by_numpy(device, a, b):
    with tf.device(device):
        return np.matmul(a, b)


FAILED = r"Failed in processing TensorFlow graph (\S+) .*?"
NODE = r" for (?:node: (?:n\d+ = )?|n\d+ = )(\S+)"


def name_cut_short(log):
    return {name.rpartition("/")[2]: node for name, node in re.findall(FAILED + NODE, log)}


def kind_for_the_name(log):
    return dict(re.findall(FAILED + r"\((\w+)\)", log))


def operations_alone(log):
    return [node for _, node in re.findall(FAILED + NODE, log)]


def the_first_failure_alone(log):
    return dict(re.findall(FAILED + NODE, log)[:1])


def numbered_form_alone(log):
    return dict(re.findall(FAILED + r" n\d+ = (\S+)", log))


def operation_for_subgraph(log):
    return {node: name for name, node in re.findall(FAILED + NODE, log)}


WRONG = {
    "severity": [
        always_information,
        any_letter_anywhere,
        third_word_whatever_it_is,
        first_letter,
        whole_lines_only,
        no_abseil,
        the_whole_first_word_of_abseil,
    ],
    "product_on": [
        no_device,
        always_the_processor,
        leaves_too_early,
        the_other_way_round,
        element_by_element,
        by_numpy,
    ],
    "reasons": [
        name_cut_short,
        kind_for_the_name,
        operations_alone,
        the_first_failure_alone,
        numbered_form_alone,
        operation_for_subgraph,
    ],
}
